/** What a bundle states of the endpoints that it runs. */
import { type TSchema, Type } from 'typebox';
import { ERRORS, type ErrorCode } from '../error-codes.ts';
import { VIEWS } from './pictures.ts';
import { closed, confidence, nullable } from './schemas.ts';
import { BODY_TYPES, COLORS } from './vehicles.ts';

const failureCodes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => ERRORS[code].type === 'processing_error');

const failure = closed({
  type: Type.Literal('processing_error'),
  code: Type.Enum(failureCodes),
  message: Type.String(),
});

export const chargedCredits = Type.Integer({
  minimum: 0,
  description: 'Credits charged for this outcome; 0 if it failed.',
});

/** How one endpoint finished on one picture: with its `result` or its `error`. */
export const outcomeOf = <Result extends TSchema>(result: Result) =>
  closed({
    status: Type.Enum(['succeeded', 'failed']),
    result: nullable(result),
    error: nullable(failure),
    charged_credits: chargedCredits,
  });

const sourceIndex = Type.Integer({
  minimum: 0,
  description: 'The picture with the most confident reading: an index in `images`, or in `key_frames` for a video.',
});

const seen = { confidence, source_index: sourceIndex };

/** The outcomes combined. Anything not requested or not found is null or an empty list. */
export const bundleSummary = closed({
  views: Type.Array(Type.Enum(VIEWS), {
    description: 'The views that the pictures show, in the order of this enumeration.',
  }),
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
