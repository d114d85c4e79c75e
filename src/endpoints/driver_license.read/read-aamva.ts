/**
 * The content of the PDF417 of North American licences: AAMVA DL/ID Card Design Standard, annex D. The format is a header and
 * lines of an element's three letters and its value: a package would save this file's splitting, not its mapping.
 */
import { isoDate } from './dates.ts';

export interface AamvaLicense {
  standardVersion: number;
  issuerIdentificationNumber: string;
  country: 'US' | 'CA' | null;
  /** ISO 3166-2. */
  region: string | null;
  fields: Partial<Record<AamvaField, AamvaValue>>;
  vehicleClass: string | null;
}

export type AamvaField =
  | 'family_name'
  | 'given_names'
  | 'birth_date'
  | 'sex'
  | 'address'
  | 'number'
  | 'issue_date'
  | 'expiry_date';

export interface AamvaValue {
  value: string;
  /** As encoded. */
  text: string;
}

/** File type, issuer, version of the standard, from version 2 on version of the jurisdiction, number of subfiles. */
const HEADER = /(?:ANSI |AAMVA)(\d{6})(\d{2})/;
/** Before the first element stands the type of its subfile, DL or ID, twice: in the directory, and at its start. */
const FIRST_ELEMENT = /(?:DL|ID)(?=D[A-Z]{2})/g;
const ELEMENT = /^(D[A-Z]{2})(.*)$/;
const COUNTRIES = new Map<string, 'US' | 'CA'>([
  ['USA', 'US'],
  ['CAN', 'CA'],
]);
/** ANSI D-20: 1 and 2; version 1 has letters. 9, not specified, is not certain. */
const SEXES = new Map([
  ['1', 'male'],
  ['M', 'male'],
  ['2', 'female'],
  ['F', 'female'],
  ['X', 'other'],
]);
const CANADIAN = new Set('AB BC MB NB NL NS NT NU ON PE QC SK YT'.split(' '));
/** Stands for values that the jurisdiction does not have. */
const NONE = /^(?:NONE|UNAVL|UNAVAIL)$/;

/** Null if the text is not of this standard. */
export function parseAamva(text: string): AamvaLicense | null {
  const header = HEADER.exec(text);
  const starts = [...text.matchAll(FIRST_ELEMENT)];
  const start = starts.at(0);
  if (!header || !start) return null;
  const elements = new Map<string, string>();
  for (const line of text.slice(start.index + start[0].length).split(/[\n\r]+/)) {
    const [, id = '', value = ''] = ELEMENT.exec(line.replace(/^(?:DL|ID)(?=D[A-Z]{2})/, '')) ?? [];
    if (value.trim() !== '' && !NONE.test(value.trim()) && !elements.has(id)) elements.set(id, value.trim());
  }
  const state = elements.get('DAJ') ?? '';
  const country = COUNTRIES.get(elements.get('DCG') ?? '') ?? (CANADIAN.has(state) ? 'CA' : null);
  return {
    standardVersion: Number(header[2]),
    issuerIdentificationNumber: header[1] ?? '',
    country,
    region: country && /^[A-Z]{2}$/.test(state) ? `${country}-${state}` : null,
    fields: fieldsOf(elements),
    vehicleClass: elements.get('DCA') ?? elements.get('DAR') ?? null,
  };
}

function fieldsOf(elements: ReadonlyMap<string, string>): AamvaLicense['fields'] {
  const fields: AamvaLicense['fields'] = {};
  const add = (field: AamvaField, value: string | null | undefined, ids: readonly string[]) => {
    const text = ids.flatMap((id) => elements.get(id) ?? []).join('\n');
    if (value) fields[field] = { value, text };
  };
  const { family, given } = namesOf(elements);
  add('family_name', family.value, family.ids);
  add('given_names', given.value, given.ids);
  add('number', elements.get('DAQ'), ['DAQ']);
  add('birth_date', dateOf(elements.get('DBB')), ['DBB']);
  add('issue_date', dateOf(elements.get('DBD')), ['DBD']);
  add('expiry_date', dateOf(elements.get('DBA')), ['DBA']);
  add('sex', SEXES.get(elements.get('DBC') ?? ''), ['DBC']);
  const place = [elements.get('DAJ'), postalCodeOf(elements.get('DAK'))].filter((part) => part).join(' ');
  const address = [elements.get('DAG'), elements.get('DAH'), elements.get('DAI'), place].filter((part) => part);
  if (elements.has('DAG')) add('address', address.join(', '), ['DAG', 'DAH', 'DAI', 'DAJ', 'DAK']);
  return fields;
}

function namesOf(elements: ReadonlyMap<string, string>) {
  // Version 1 may hold all names in one element: family name, first name, middle names.
  const whole = elements.get('DAA')?.split(/[,@]/);
  const together = elements.get('DCT')?.split(/[, ]+/).join(' ');
  const single = [elements.get('DAC'), elements.get('DAD')].filter((name) => name).join(' ');
  const [familyId, givenIds] = [elements.has('DCS') ? 'DCS' : 'DAB', single === '' ? ['DCT'] : ['DAC', 'DAD']];
  const own = elements.get(familyId);
  return {
    family: { value: own ?? whole?.[0]?.trim(), ids: own === undefined ? ['DAA'] : [familyId] },
    given:
      single !== '' || together !== undefined
        ? { value: single || together, ids: givenIds }
        : { value: whole?.slice(1).join(' ').trim(), ids: ['DAA'] },
  };
}

/** MMDDCCYY in the United States, CCYYMMDD in Canada and in version 1. Only one of them is a day after 1900. */
function dateOf(text = ''): string | null {
  if (!/^\d{8}$/.test(text)) return null;
  const yearFirst = isoDate(text.slice(0, 4), text.slice(4, 6), text.slice(6));
  const yearLast = isoDate(text.slice(4), text.slice(0, 2), text.slice(2, 4));
  return yearFirst && yearLast ? null : (yearFirst ?? yearLast);
}

/** Five digits, or nine with a hyphen; filled up with zeros or spaces. Canada: as encoded. */
function postalCodeOf(text = ''): string {
  const [, code = '', more = ''] = /^(\d{5})(\d{4})$/.exec(text) ?? [];
  if (code === '') return text;
  return more === '0000' ? code : `${code}-${more}`;
}
