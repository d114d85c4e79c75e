/** Documents of a vehicle or its driver, and the fields read from them. */
import { type Static, type TSchema, Type } from 'typebox';
import { READING_DEFECTS } from './pictures.ts';
import { boundingBox, closed, confidence, imageIndex } from './schemas.ts';

export const DOCUMENT_TYPES = [
  'registration_certificate',
  'title',
  'insurance_card',
  'insurance_policy',
  'invoice',
  'repair_estimate',
  'inspection_report',
  'purchase_contract',
  'service_record',
  'certificate_of_conformity',
  'accident_report',
  'other',
] as const;

/** Why a document is hard to read. */
export const DOCUMENT_ISSUES = [
  ...READING_DEFECTS,
  'occluded',
  'folded_or_worn',
  'screen_or_copy',
  'no_document',
] as const;

const documentIssue = closed({ reason: Type.Enum(DOCUMENT_ISSUES), image_index: imageIndex, confidence });

export const documentIssues = Type.Array(documentIssue, {
  description:
    'Reasons why a document is hard to read or missing, by picture, most confident first. Empty if there are none. A ' +
    'reading without any value has at least one for each picture.',
});

export type DocumentIssue = Static<typeof documentIssue>;

export const TEXT_FIELDS = [
  'registration_number',
  'vin',
  'make',
  'model',
  'variant',
  'type_approval_number',
  'vehicle_category',
  'body_type',
  'color',
  'fuel_type',
  'emission_class',
  'holder_name',
  'holder_address',
  'seller_name',
  'buyer_name',
  'issuer_name',
  'lienholder_name',
  'title_brand',
  'document_number',
  'invoice_number',
  'insurer_name',
  'policy_number',
  'inspection_result',
] as const;

export const DATE_FIELDS = [
  'first_registration_date',
  'registration_date',
  'issue_date',
  'expiry_date',
  'valid_from_date',
  'inspection_date',
  'next_inspection_date',
  'purchase_date',
] as const;

export const NUMBER_FIELDS = [
  'model_year',
  'engine_displacement',
  'power',
  'seats',
  'unladen_mass',
  'maximum_mass',
  'co2_emissions',
  'odometer',
] as const;

export const MONEY_FIELDS = ['net_amount', 'tax_amount', 'total_amount', 'purchase_price'] as const;

export const UNITS = ['km', 'mi', 'kW', 'hp', 'cm3', 'kg', 'lb', 'g/km'] as const;

/** Where a value was read, and how certain the reading is. */
export const seen = { confidence, image_index: imageIndex, bbox: boundingBox };

/** The parsed value beside the printed text. */
export const readValue = <Value extends TSchema>(value: Value) =>
  closed({ value, text: Type.String({ description: 'As printed.' }), ...seen });
