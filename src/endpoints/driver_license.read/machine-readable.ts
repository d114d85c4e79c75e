/** The machine-readable zone and barcode of a licence, and whether they agree with the printed text. */
import { Type } from 'typebox';
import { seen } from '../../contracts/vocabulary/documents.ts';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';

const COMPARED_FIELDS = [
  'family_name',
  'given_names',
  'birth_date',
  'sex',
  'address',
  'number',
  'issue_date',
  'expiry_date',
  'country',
  'categories',
] as const;

const comparisons = Type.Array(closed({ field: Type.Enum(COMPARED_FIELDS), agrees: Type.Boolean() }), {
  description: 'Each field that is both printed and machine-readable, and whether the two agree.',
});

const mrzCheck = closed({
  field: Type.Enum(['number', 'birth_date', 'expiry_date', 'composite']),
  found: Type.String({ pattern: '^[0-9A-Z<]$' }),
  expected: Type.String({ pattern: '^[0-9]$' }),
  valid: Type.Boolean(),
});

/** One line of 30 characters on European licences, three on documents of the size TD1. */
export const mrz = closed({
  lines: Type.Array(Type.String({ pattern: '^[A-Z0-9<]+$' }), { minItems: 1, maxItems: 3 }),
  checks: Type.Array(mrzCheck, { description: 'The check digits, with weights 7, 3, 1 (ICAO 9303).' }),
  valid: Type.Boolean({ description: 'Whether every check digit agrees.' }),
  comparisons,
  ...seen,
});

/** The PDF417 of North American licences. */
export const barcode = closed({
  symbology: Type.Literal('pdf417'),
  decoded: Type.Boolean({ description: 'False if the barcode is visible but cannot be decoded.' }),
  error_correction_ok: nullable(
    Type.Boolean({ description: 'Whether the Reed–Solomon check passed; null if the barcode was not decoded.' }),
  ),
  standard: nullable(Type.Enum(['aamva'], { description: 'The layout of its content; null if unknown.' })),
  standard_version: nullable(Type.Integer({ minimum: 0 })),
  issuer_identification_number: nullable(Type.String({ pattern: '^[0-9]{6}$' })),
  comparisons,
  ...seen,
});
