/** How each field of a document is typed, and its code in harmonised registration certificates. */
import type {
  DATE_FIELDS,
  MONEY_FIELDS,
  NUMBER_FIELDS,
  TEXT_FIELDS,
  UNITS,
} from '../../contracts/vocabulary/documents.ts';
import type { Range } from './parse-values.ts';

type Unit = (typeof UNITS)[number];
export type TextKind =
  | 'registration'
  | 'vin'
  | 'category'
  | 'type_approval'
  | 'number_text'
  | 'name'
  | 'address'
  | 'make'
  | 'emission_class'
  | 'words';

export type FieldRule =
  | { type: 'text'; name: (typeof TEXT_FIELDS)[number]; kind: TextKind }
  | { type: 'date'; name: (typeof DATE_FIELDS)[number] }
  | {
      type: 'number';
      name: (typeof NUMBER_FIELDS)[number];
      range: Range;
      units: readonly Unit[];
      /** The unit of a number printed without one; null for an unknown one. */
      unit: Unit | null;
    }
  | { type: 'money'; name: (typeof MONEY_FIELDS)[number] };

export type FieldName = FieldRule['name'];

const text = (name: (typeof TEXT_FIELDS)[number], kind: TextKind): FieldRule => ({ type: 'text', name, kind });
const date = (name: (typeof DATE_FIELDS)[number]): FieldRule => ({ type: 'date', name });
const money = (name: (typeof MONEY_FIELDS)[number]): FieldRule => ({ type: 'money', name });
const number = (
  name: (typeof NUMBER_FIELDS)[number],
  least: number,
  most: number,
  units: readonly Unit[] = [],
): FieldRule => ({ type: 'number', name, range: { least, most }, units, unit: null });

/** Ranges contain every vehicle on the road, and exclude years and numbers of forms where they can. */
export const FIELD_RULES: Readonly<Record<FieldName, FieldRule>> = {
  registration_number: text('registration_number', 'registration'),
  vin: text('vin', 'vin'),
  make: text('make', 'make'),
  model: text('model', 'words'),
  variant: text('variant', 'words'),
  type_approval_number: text('type_approval_number', 'type_approval'),
  vehicle_category: text('vehicle_category', 'category'),
  body_type: text('body_type', 'words'),
  color: text('color', 'words'),
  fuel_type: text('fuel_type', 'words'),
  emission_class: text('emission_class', 'emission_class'),
  holder_name: text('holder_name', 'name'),
  holder_address: text('holder_address', 'address'),
  seller_name: text('seller_name', 'name'),
  buyer_name: text('buyer_name', 'name'),
  issuer_name: text('issuer_name', 'name'),
  lienholder_name: text('lienholder_name', 'name'),
  title_brand: text('title_brand', 'words'),
  document_number: text('document_number', 'number_text'),
  invoice_number: text('invoice_number', 'number_text'),
  insurer_name: text('insurer_name', 'name'),
  policy_number: text('policy_number', 'number_text'),
  inspection_result: text('inspection_result', 'words'),
  first_registration_date: date('first_registration_date'),
  registration_date: date('registration_date'),
  issue_date: date('issue_date'),
  expiry_date: date('expiry_date'),
  valid_from_date: date('valid_from_date'),
  inspection_date: date('inspection_date'),
  next_inspection_date: date('next_inspection_date'),
  purchase_date: date('purchase_date'),
  model_year: number('model_year', 1900, 2099),
  engine_displacement: number('engine_displacement', 40, 30_000, ['cm3']),
  power: number('power', 0.5, 2_000, ['kW', 'hp']),
  seats: number('seats', 1, 99),
  unladen_mass: number('unladen_mass', 50, 99_000, ['kg', 'lb']),
  maximum_mass: number('maximum_mass', 50, 99_000, ['kg', 'lb']),
  co2_emissions: number('co2_emissions', 0, 999, ['g/km']),
  odometer: number('odometer', 0, 2_000_000, ['km', 'mi']),
  net_amount: money('net_amount'),
  tax_amount: money('tax_amount'),
  total_amount: money('total_amount'),
  purchase_price: money('purchase_price'),
};

/** A field with the unit that its code prescribes. */
export interface CodeMeaning {
  name: FieldName;
  unit?: Unit;
}

/**
 * Codes of the harmonised registration certificate, and national ones under them (Y and Z are taxes and remarks). A code
 * without a meaning here is known, so that nobody takes it for a value.
 * Source: Directive 1999/37/EC, annexes I and II; D.2.1, G.1 (unladen mass), J.3 and X.1 are French, D.5 is British.
 */
export const CODES: Readonly<Record<string, CodeMeaning | null>> = {
  A: { name: 'registration_number' },
  B: { name: 'first_registration_date' },
  'C.1': { name: 'holder_name' },
  'C.1.1': { name: 'holder_name' },
  'C.1.2': null,
  'C.1.3': { name: 'holder_address' },
  'C.2': null,
  'C.2.1': null,
  'C.2.2': null,
  'C.2.3': null,
  'C.3': null,
  'C.3.1': null,
  'C.3.2': null,
  'C.3.3': null,
  'C.4': null,
  'D.1': { name: 'make' },
  'D.2': { name: 'variant' },
  'D.2.1': null,
  'D.3': { name: 'model' },
  'D.5': { name: 'body_type' },
  E: { name: 'vin' },
  'F.1': { name: 'maximum_mass', unit: 'kg' },
  'F.2': { name: 'maximum_mass', unit: 'kg' },
  'F.3': null,
  G: { name: 'unladen_mass', unit: 'kg' },
  'G.1': { name: 'unladen_mass', unit: 'kg' },
  H: { name: 'expiry_date' },
  I: { name: 'registration_date' },
  'I.1': null,
  J: { name: 'vehicle_category' },
  'J.1': null,
  'J.2': null,
  'J.3': { name: 'body_type' },
  K: { name: 'type_approval_number' },
  L: null,
  'O.1': null,
  'O.2': null,
  'P.1': { name: 'engine_displacement', unit: 'cm3' },
  'P.2': { name: 'power', unit: 'kW' },
  'P.3': { name: 'fuel_type' },
  'P.4': null,
  'P.5': null,
  'P.6': null,
  Q: null,
  R: { name: 'color' },
  'S.1': { name: 'seats' },
  'S.2': null,
  T: null,
  'U.1': null,
  'U.2': null,
  'U.3': null,
  'V.1': null,
  'V.2': null,
  'V.3': null,
  'V.5': null,
  'V.6': null,
  'V.7': { name: 'co2_emissions', unit: 'g/km' },
  'V.8': null,
  'V.9': { name: 'emission_class' },
  'X.1': { name: 'next_inspection_date' },
  'Y.1': null,
  'Y.2': null,
  'Y.3': null,
  'Y.4': null,
  'Y.5': null,
  'Y.6': null,
  'Z.1': null,
  'Z.2': null,
  'Z.3': null,
  'Z.4': null,
};

/**
 * Fields of the Swiss registration certificate, by their numbers. It prints them before labels in four languages, too small
 * to be read in many pictures.
 */
export const SWISS_NUMBERS: Readonly<Record<string, CodeMeaning>> = {
  15: { name: 'registration_number' },
  18: { name: 'document_number' },
  21: { name: 'make' },
  23: { name: 'vin' },
  24: { name: 'type_approval_number' },
  25: { name: 'body_type' },
  26: { name: 'color' },
  27: { name: 'seats' },
  30: { name: 'unladen_mass', unit: 'kg' },
  33: { name: 'maximum_mass', unit: 'kg' },
  36: { name: 'first_registration_date' },
  37: { name: 'engine_displacement', unit: 'cm3' },
  76: { name: 'power', unit: 'kW' },
};
