/** What the parts of a bundle say of themselves. */
import { type TSchema, Type } from 'typebox';
import { ERRORS, type ErrorCode } from '../error-codes.ts';
import { closed, confidence, nullable } from './schemas.ts';
import { BODY_TYPES, COLORS } from './vehicles.ts';
import { VIEWS } from './views.ts';

const failureCodes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => ERRORS[code].type === 'processing_error');

const failure = closed({
  type: Type.Literal('processing_error'),
  code: Type.Enum(failureCodes),
  message: Type.String(),
});

export const chargedCredits = Type.Integer({ minimum: 0, description: 'Credits charged for it; 0 where it failed.' });

/** How one endpoint ended on one picture: its `result`, or its `error`. */
export const outcomeOf = <Result extends TSchema>(result: Result) =>
  closed({
    status: Type.Enum(['succeeded', 'failed']),
    result: nullable(result),
    error: nullable(failure),
    charged_credits: chargedCredits,
  });

const sourceIndex = Type.Integer({
  minimum: 0,
  description: 'Where it is seen best: index in `images`, or in `key_frames` of a video.',
});

const seen = { confidence, source_index: sourceIndex };

/** What the outcomes say together. What was not asked for, or not found, is null or an empty list. */
export const bundleSummary = closed({
  views: Type.Array(Type.Enum(VIEWS), { description: 'The views that are shown, in the order of the vocabulary.' }),
  vehicle: nullable(
    closed({ make: Type.String(), model: Type.String(), generation: nullable(Type.String()), ...seen }),
  ),
  body_type: nullable(closed({ value: Type.Enum(BODY_TYPES), ...seen })),
  color: nullable(closed({ value: Type.Enum(COLORS), ...seen })),
  vin: nullable(closed({ text: Type.String(), ...seen })),
  plate: nullable(closed({ text: Type.String(), ...seen })),
  odometer: nullable(closed({ value: Type.Number({ minimum: 0 }), unit: nullable(Type.Enum(['km', 'mi'])), ...seen })),
});

export type BundleSummary = Type.Static<typeof bundleSummary>;
