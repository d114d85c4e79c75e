/** Codes of countries and of their parts. */
import { Type } from 'typebox';
import { closed, confidence } from './schemas.ts';

export const COUNTRY_PATTERN = '^[A-Z]{2}$';
export const SUBDIVISION_PATTERN = '^[A-Z]{2}-[A-Z0-9]{1,3}$';

export const likelyCountry = closed(
  { value: Type.String({ pattern: COUNTRY_PATTERN, description: 'ISO 3166-1 alpha-2.' }), confidence },
  'The most likely country.',
);

export const likelyRegion = closed(
  { value: Type.String({ pattern: SUBDIVISION_PATTERN, description: 'ISO 3166-2.' }), confidence },
  'The most likely state, province or region.',
);

/** EU and EEA, the United States, Canada: where the driver licence reader knows the documents. */
export const LICENSE_COUNTRIES = [
  'AT',
  'BE',
  'BG',
  'CA',
  'CY',
  'CZ',
  'DE',
  'DK',
  'EE',
  'ES',
  'FI',
  'FR',
  'GR',
  'HR',
  'HU',
  'IE',
  'IS',
  'IT',
  'LI',
  'LT',
  'LU',
  'LV',
  'MT',
  'NL',
  'NO',
  'PL',
  'PT',
  'RO',
  'SE',
  'SI',
  'SK',
  'US',
] as const;
