import { Type } from 'typebox';
import { likelyCountry, likelyRegion } from '../../contracts/vocabulary/countries.ts';
import { documentIssues, readValue, seen } from '../../contracts/vocabulary/documents.ts';
import { closed, confidence, imageIndex, nullable, quad } from '../../contracts/vocabulary/schemas.ts';
import { barcode, mrz } from './machine-readable.ts';

const isoDate = Type.String({ format: 'date' });
const text = nullable(readValue(Type.String()));
const date = nullable(readValue(isoDate));

const side = closed(
  { side: Type.Enum(['front', 'back']), image_index: imageIndex, quad, confidence },
  'A side, with at least its print and its code inside `quad`.',
);

const document = closed({
  country: nullable(likelyCountry),
  region: nullable(likelyRegion),
  sides: Type.Array(side, {
    maxItems: 2,
    description: 'The sides that were found, whatever their order in the request.',
  }),
});

const holder = closed(
  {
    family_name: text,
    given_names: text,
    birth_date: date,
    birth_place: text,
    sex: nullable(readValue(Type.Enum(['female', 'male', 'other']))),
    address: text,
    personal_number: text,
  },
  'Fields that the document does not show, or that cannot be read, are null. A value that only the barcode holds has its box, ' +
    'and as `text` what is encoded.',
);

const license = closed({
  number: text,
  issue_date: date,
  expiry_date: date,
  issuing_authority: text,
  is_expired: nullable(
    Type.Boolean({
      description: 'Whether `expiry_date` had passed on the day of the job, UTC; null without an expiry date.',
    }),
  ),
});

const category = closed({
  code: Type.String({
    minLength: 1,
    maxLength: 8,
    description: 'As printed, such as `B`, `C1E` or `AM`; in the US `D`.',
  }),
  valid_from: nullable(isoDate),
  valid_until: nullable(isoDate),
  restrictions: Type.Array(Type.String(), { description: 'Codes as printed, such as `01.06`.' }),
  ...seen,
});

const picture = closed(seen);

export const result = closed({
  document: nullable(document),
  holder: nullable(holder),
  license: nullable(license),
  categories: Type.Array(category, { description: 'Vehicle categories or classes that the holder may drive.' }),
  portrait: nullable(picture),
  signature: nullable(picture),
  mrz: nullable(mrz),
  barcode: nullable(barcode),
  issues: documentIssues,
});

export type Result = Type.Static<typeof result>;
