import { Type } from 'typebox';
import { likelyCountry } from '../../contracts/vocabulary/countries.ts';
import {
  DATE_FIELDS,
  DOCUMENT_TYPES,
  documentIssues,
  MONEY_FIELDS,
  NUMBER_FIELDS,
  seen,
  TEXT_FIELDS,
  UNITS,
} from '../../contracts/vocabulary/documents.ts';
import {
  amount,
  classified,
  closed,
  confidence,
  currency,
  imageIndex,
  nullable,
  quad,
} from '../../contracts/vocabulary/schemas.ts';

const printed = {
  label: nullable(Type.String({ description: 'The printed label of the value, such as `D.1` or `Invoice no.`.' })),
  text: Type.String({ description: 'The value as printed.' }),
};

const field = Type.Union([
  closed({ type: Type.Literal('text'), name: Type.Enum(TEXT_FIELDS), value: Type.String(), ...printed, ...seen }),
  closed({
    type: Type.Literal('date'),
    name: Type.Enum(DATE_FIELDS),
    value: Type.String({ format: 'date' }),
    ...printed,
    ...seen,
  }),
  closed({
    type: Type.Literal('number'),
    name: Type.Enum(NUMBER_FIELDS),
    value: Type.Number(),
    unit: nullable(Type.Enum(UNITS)),
    ...printed,
    ...seen,
  }),
  closed({
    type: Type.Literal('money'),
    name: Type.Enum(MONEY_FIELDS),
    value: amount,
    currency: nullable(currency),
    ...printed,
    ...seen,
  }),
]);

const page = closed({ image_index: imageIndex, quad, confidence });

export const result = closed({
  document_type: nullable(classified(DOCUMENT_TYPES)),
  country: nullable(likelyCountry),
  pages: Type.Array(page, { description: 'The outline of the document on each picture that shows it.' }),
  fields: Type.Array(field, { description: 'The fields in reading order. A name may occur more than once.' }),
  issues: documentIssues,
});

export type Result = Type.Static<typeof result>;
