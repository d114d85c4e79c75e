/** The sides of a licence → the result. Prefers print to codes: the caller learns from `comparisons` where they differ. */
import { compare, type Values } from './compare.ts';
import { countryNamedIn, countryOfSign, regionNamedIn } from './countries.ts';
import { centuryOfBirth, type DateOrder, findDate, thisCentury } from './dates.ts';
import { type Category, categoriesOfFront, type NumberedFields } from './european.ts';
import { partOf, type Reading, type Run, readingOf } from './page.ts';
import { FRENCH_NAME_LENGTH } from './read-mrz.ts';
import type { Barcode, Side } from './read-side.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Holder = NonNullable<Result['holder']>;
type License = NonNullable<Result['license']>;
type Document = NonNullable<Result['document']>;
type Fields = Partial<Record<Exclude<keyof Holder | keyof License, 'is_expired'>, Reading | null>>;

/** A hint is no finding. */
const HINTED = 0.5;
const NAME = /^[\p{L}][\p{L} .,'’\n-]*$/u;
const NUMBER = /^(?=.*\d)[A-Z0-9][A-Z0-9 /.-]{3,}$/;
/** Country signs stand in the upper left corner: shares of the width and height of the print. */
const SIGN_WIDTH = 0.3;
const SIGN_HEIGHT = 0.3;

/** @param today ISO 8601, UTC */
export function composeLicense(sides: readonly Side[], hints: Parameters, today: string): Result {
  const found = [surest(sides, 'front'), surest(sides, 'back')].filter((side) => side !== undefined);
  const issues = sides.flatMap((side) => side.issues);
  if (found.length === 0) return { ...NOTHING, issues };
  const front = found.find(({ side }) => side === 'front');
  const barcode = found.find((side) => side.barcode)?.barcode ?? null;
  const mrz = found.find((side) => side.mrz)?.mrz ?? null;
  const isAmerican = found.some((side) => side.isAmerican);
  const european = (side: Side) =>
    withoutMarks(europeanFields(side.numbered, side.page.imageIndex, today), mrz?.fields.family_name);
  const printed = front ? (isAmerican ? front.american : european(front)) : {};
  const fields: Fields = { ...(barcode && codedFields(barcode)), ...withoutNull(printed) };
  const place = isAmerican ? americanPlace(found, barcode) : { country: europeanCountry(front), region: null };
  const country = place.country ?? (mrz?.country ? { value: mrz.country, confidence: mrz.place.confidence } : null);
  const categories = categoriesOf(found, isAmerican);
  const comparedPrint: Values = {
    ...Object.fromEntries(Object.entries(withoutNull(printed)).map(([field, reading]) => [field, reading.value])),
    country: place.country?.value ?? null,
    categories: front?.american.vehicleClass?.value ?? null,
  };
  return {
    document: {
      country: country ?? hinted(hints.country_hint),
      region:
        place.region ??
        (country === null || country.value === hints.region_hint?.slice(0, 2) ? hinted(hints.region_hint) : null),
      sides: found.map(sideOf),
    },
    holder: holderOf(fields),
    license: licenseOf(fields, today),
    categories,
    portrait: front?.portrait ?? null,
    signature: front?.signature ?? null,
    mrz: mrz && {
      lines: mrz.lines,
      checks: mrz.checks,
      valid: mrz.checks.every(({ valid }) => valid),
      comparisons: compare(comparedPrint, { ...mrz.fields, country: mrz.country }, FRENCH_NAME_LENGTH),
      confidence: mrz.place.confidence,
      image_index: mrz.place.image_index,
      bbox: mrz.place.bbox,
    },
    barcode: barcode && barcodeResult(barcode, comparedPrint),
    issues,
  };
}

const NOTHING: Omit<Result, 'issues'> = {
  document: null,
  holder: null,
  license: null,
  categories: [],
  portrait: null,
  signature: null,
  mrz: null,
  barcode: null,
};

function surest(sides: readonly Side[], wanted: 'front' | 'back'): Side | undefined {
  return sides.filter(({ side }) => side === wanted).toSorted((a, b) => b.confidence - a.confidence)[0];
}

function sideOf({ side, page, confidence, outline }: Side): Document['sides'][number] {
  return { side: side ?? 'front', image_index: page.imageIndex, quad: outline, confidence };
}

function europeanFields(numbered: NumberedFields, imageIndex: number, today: string): Fields {
  const text = (number: string, pattern: RegExp): Reading | null => {
    const run = numbered.get(number as '1');
    const value = run?.text.replaceAll('\n', ' ').trim() ?? '';
    return run && pattern.test(value) ? readingOf(run, imageIndex, value) : null;
  };
  const date = (number: string, centuryOf: NonNullable<DateOrder['centuryOf']>): Reading | null => {
    const run = numbered.get(number as '1');
    const found = run && findDate(run.text, { centuryOf });
    return run && found ? readingOf(partOf(run, found.from, found.to), imageIndex, found.iso) : null;
  };
  const issued = date('4a', thisCentury);
  const yearOfLicense = Number((issued?.value ?? today).slice(0, 4));
  return {
    family_name: text('1', NAME),
    given_names: text('2', NAME),
    birth_date: date('3', centuryOfBirth(yearOfLicense)),
    birth_place: placeAfterDate(numbered.get('3'), imageIndex),
    address: text('8', /\p{L}/u),
    personal_number: text('4d', /^[\dA-Z][\dA-Z -]{3,}$/),
    number: text('5', NUMBER),
    issue_date: issued,
    expiry_date: date('4b', thisCentury),
    issuing_authority: text('4c', /[\p{L}\d]{2}/u),
  };
}

/** Names of French licences stand between small marks that look like letters: the zone tells which are none. */
function withoutMarks(fields: Fields, coded: string | undefined): Fields {
  const name = fields.family_name;
  if (!name || !coded || coded.length >= FRENCH_NAME_LENGTH) return fields;
  const isMarked = name.value.length === coded.length + 2 && name.value.slice(1, -1).toUpperCase() === coded;
  return isMarked ? { ...fields, family_name: { ...name, value: name.value.slice(1, -1) } } : fields;
}

function placeAfterDate(run: Run | undefined, imageIndex: number): Reading | null {
  const date = run && findDate(run.text);
  if (!run || !date) return null;
  const start = date.to + (/^[\s.,(]*/.exec(run.text.slice(date.to))?.[0].length ?? 0);
  const place = partOf(run, start, run.text.length - (/[\s)]*$/.exec(run.text)?.[0].length ?? 0));
  return NAME.test(place.text) ? readingOf(place, imageIndex) : null;
}

/** What the barcode holds, with its elements as text and its place. */
function codedFields({ license, place }: Barcode): Fields {
  return Object.fromEntries(
    Object.entries(license?.fields ?? {}).map(([field, { value, text }]) => [field, { value, text, ...place }]),
  );
}

function holderOf(fields: Fields): Holder | null {
  const holder = {
    family_name: fields.family_name ?? null,
    given_names: fields.given_names ?? null,
    birth_date: fields.birth_date ?? null,
    birth_place: fields.birth_place ?? null,
    sex: sexOf(fields.sex),
    address: fields.address ?? null,
    personal_number: fields.personal_number ?? null,
  };
  return Object.values(holder).some((value) => value !== null) ? holder : null;
}

function sexOf(reading: Reading | null | undefined): Holder['sex'] {
  const value = (['female', 'male', 'other'] as const).find((sex) => sex === reading?.value);
  return reading && value ? { ...reading, value } : null;
}

function licenseOf(fields: Fields, today: string): License | null {
  const license = {
    number: fields.number ?? null,
    issue_date: fields.issue_date ?? null,
    expiry_date: fields.expiry_date ?? null,
    issuing_authority: fields.issuing_authority ?? null,
  };
  if (Object.values(license).every((value) => value === null)) return null;
  return { ...license, is_expired: license.expiry_date && license.expiry_date.value < today };
}

function categoriesOf(found: readonly Side[], isAmerican: boolean): Category[] {
  const table = found.flatMap((side) => side.table ?? []);
  const front = found.find(({ side }) => side === 'front');
  if (!isAmerican) {
    const run = front?.numbered.get('9');
    const printed = run && front ? categoriesOfFront(run, front.page.imageIndex) : [];
    return [...table, ...printed.filter(({ code }) => !table.some((row) => row.code === code))];
  }
  const coded = found.find((side) => side.barcode?.license?.vehicleClass)?.barcode;
  const vehicleClass =
    front?.american.vehicleClass ?? (coded && { value: coded.license?.vehicleClass ?? '', ...coded.place });
  if (!vehicleClass || vehicleClass.value.length > 8) return [];
  const { value: code, confidence, image_index, bbox } = vehicleClass;
  return [{ code, valid_from: null, valid_until: null, restrictions: [], confidence, image_index, bbox }];
}

function americanPlace(found: readonly Side[], barcode: Barcode | null): Pick<Document, 'country' | 'region'> {
  const { country, region } = barcode?.license ?? {};
  const confidence = barcode?.place.confidence ?? 0;
  if (country)
    return { country: { value: country, confidence }, region: region ? { value: region, confidence } : null };
  const named = found
    .flatMap(({ page }) => page.pieces)
    .flatMap((piece) => {
      const value = regionNamedIn(piece.text);
      const reading = value && readingOf(piece, 0, value);
      return reading ? [{ value: reading.value, confidence: reading.confidence }] : [];
    });
  const [only] = named;
  // An address may name another one.
  if (!only || named.some(({ value }) => value !== only.value)) return { country: null, region: null };
  return { country: { value: only.value.slice(0, 2), confidence: only.confidence }, region: only };
}

/** By the distinguishing sign in the upper left corner of the front, otherwise by the name of the state in its title. */
function europeanCountry(front: Side | undefined): Document['country'] {
  if (!front) return null;
  const { pieces, imageIndex } = front.page;
  const [left, top] = [Math.min(...pieces.map(({ box }) => box.x0)), Math.min(...pieces.map(({ box }) => box.y0))];
  const [right, bottom] = [Math.max(...pieces.map(({ box }) => box.x1)), Math.max(...pieces.map(({ box }) => box.y1))];
  const head = pieces.filter(({ box }) => box.y1 < top + SIGN_HEIGHT * (bottom - top));
  const corner = head.filter(({ box }) => box.x1 < left + SIGN_WIDTH * (right - left));
  const only = (readings: readonly Reading[]) => {
    const [first] = readings;
    const isOne = first && readings.every(({ value }) => value === first.value);
    return isOne ? { value: first.value, confidence: first.confidence } : null;
  };
  const sign = corner.flatMap((piece) => readingOf(piece, imageIndex, countryOfSign(piece.text.trim())) ?? []);
  const named = head.flatMap((piece) => readingOf(piece, imageIndex, countryNamedIn(piece.text)) ?? []);
  return only(sign) ?? only(named);
}

function hinted(value: string | undefined): { value: string; confidence: number } | null {
  return value === undefined ? null : { value, confidence: HINTED };
}

function barcodeResult({ license, isDecoded, place }: Barcode, printed: Values): NonNullable<Result['barcode']> {
  const coded: Values = {
    ...Object.fromEntries(Object.entries(license?.fields ?? {}).map(([field, { value }]) => [field, value])),
    country: license?.country ?? null,
    categories: license?.vehicleClass ?? null,
  };
  return {
    symbology: 'pdf417',
    decoded: isDecoded,
    // What is decoded has passed it.
    error_correction_ok: isDecoded ? true : null,
    standard: license ? 'aamva' : null,
    standard_version: license?.standardVersion ?? null,
    issuer_identification_number: license?.issuerIdentificationNumber ?? null,
    comparisons: compare(printed, coded),
    ...place,
  };
}

function withoutNull(fields: Fields): Record<string, Reading> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, Reading] => entry[1] !== null && entry[1] !== undefined),
  );
}
