/**
 * What a vehicle identification number says by itself (ISO 3779, ISO 3780): the manufacturer by its first three characters,
 * and with some manufacturers the model year by the tenth. Never the model. Pure.
 */

/** By world manufacturer identifier: makes, by the names that books use. Public facts, a selection of Europe's frequent ones. */
const MAKES: readonly (readonly [make: string, identifiers: string])[] = [
  ['volkswagen', 'WVW WVG WV1 WV2 3VW 1VW'],
  ['audi', 'WAU WUA TRU WA1'],
  ['seat', 'VSS'],
  ['skoda', 'TMB'],
  ['porsche', 'WP0 WP1'],
  ['bmw', 'WBA WBS WBX WBY 5UX 4US'],
  ['mini', 'WMW'],
  ['mercedesbenz', 'WDB WDC WDD WDF W1K W1N W1V 4JG'],
  ['smart', 'WME'],
  ['opel vauxhall', 'W0L W0V'],
  ['ford', 'WF0 1FA 1FM 1FT NM0'],
  ['renault', 'VF1 VF6'],
  ['dacia', 'UU1'],
  ['peugeot', 'VF3 VR3'],
  ['citroen', 'VF7 VR7'],
  ['fiat', 'ZFA ZFC'],
  ['alfaromeo', 'ZAR'],
  ['volvo', 'YV1 YV4'],
  ['jaguar', 'SAJ'],
  ['landrover', 'SAL'],
  ['toyota', 'JTD JTE JTM JTN SB1 VNK NMT 4T1'],
  ['honda', 'JHM SHH SHS 1HG'],
  ['nissan', 'JN1 SJN VSK'],
  ['mazda', 'JMZ JM1'],
  ['hyundai', 'KMH TMA NLH'],
  ['kia', 'KNA KND U5Y'],
  ['suzuki', 'JSA TSM'],
  ['tesla', '5YJ 7SA LRW XP7'],
];

/** Manufacturers whose tenth character is the model year in Europe too. North America requires it of all. */
const YEAR_CODED = new Set([
  'volkswagen',
  'audi',
  'seat',
  'skoda',
  'porsche',
  'opel',
  'vauxhall',
  'volvo',
  'jaguar',
  'landrover',
  'tesla',
]);

const BY_IDENTIFIER = new Map(
  MAKES.flatMap(([makes, identifiers]) => identifiers.split(' ').map((wmi) => [wmi, makes.split(' ')] as const)),
);

/** From 1980 on, one character a year; the cycle repeats after 30 years. */
const YEAR_CODES = 'ABCDEFGHJKLMNPRSTVWXY123456789';
const FIRST_CODED_YEAR = 1980;

/** Folded names of the makes that a number may stand for; none if its manufacturer is not known. */
export function makesOfVin(vin: string): readonly string[] {
  return BY_IDENTIFIER.get(vin.slice(0, 3)) ?? [];
}

/**
 * The model year, or null if the manufacturer codes none.
 * @param latest the latest year that is possible: of the years that share a code, the last one up to it is meant
 */
export function modelYearOfVin(vin: string, make: string, latest: number): number | null {
  const isAmerican = /^[1-57]/.test(vin);
  const code = YEAR_CODES.indexOf(vin.charAt(9));
  if (code < 0 || !(isAmerican || YEAR_CODED.has(make))) return null;
  const first = FIRST_CODED_YEAR + code;
  if (first > latest) return null;
  return first + Math.floor((latest - first) / YEAR_CODES.length) * YEAR_CODES.length;
}
