/**
 * Draws specimens of driving licences with known fields: the front of the European model, the front and the back of the
 * American one. Persons and numbers are made up. They are drawings, not photographs.
 */
import { drawCode } from '../test/inference/support/coded.ts';
import { between, oneOf, type Plane, photograph, type Random, some } from './print-pictures.ts';

export const LICENSE_KINDS = ['front EU', 'front US', 'back US'] as const;
export type LicenseKind = (typeof LICENSE_KINDS)[number];

export interface DrawnLicense {
  jpeg: Buffer;
  /** Names and values as in the result: dates in ISO 8601. */
  fields: { name: string; value: string }[];
}

type Written = readonly [x: number, y: number, text: string, size?: number];

const DIGITS = '0123456789';
const FONTS = ['DejaVu Sans', 'Liberation Sans', 'DejaVu Sans Condensed'];
const [WIDTH, HEIGHT] = [1200, 760];
const two = (value: number) => String(value).padStart(2, '0');

function factsOf(random: Random) {
  const whole = (from: number, to: number) => Math.floor(between(random, from, to));
  const day = (firstYear: number, lastYear: number) => {
    const [year, month, date] = [whole(firstYear, lastYear + 1), two(whole(1, 13)), two(whole(1, 29))];
    return {
      iso: `${year}-${month}-${date}`,
      dots: `${date}.${month}.${year}`,
      american: `${month}/${date}/${year}`,
      digits: `${month}${date}${year}`,
    };
  };
  const town = oneOf(random, ['SAMPLETON', 'EXAMPLE CITY', 'MUSTERSTADT', 'SPECIMEN']);
  return {
    family: oneOf(random, ['MARLOWE', 'SPECIMEN', 'MUSTERMANN', 'VALBRUN', 'HOLLAND', 'NORDVIK']),
    given: oneOf(random, ['JORDAN ALEX', 'ERIKA', 'ANNA MARIA', 'PETER', 'MARIO']),
    born: day(1950, 2003),
    issued: day(2014, 2023),
    expires: day(2027, 2035),
    town,
    authority: `${town} ${some(random, 3, DIGITS)}`,
    letter: some(random, 1, 'ABCDEFGHJKLMNPRSTUVWXYZ'),
    number: some(random, 7, DIGITS),
    sex: oneOf(random, [
      { printed: 'M', coded: '1', value: 'male' },
      { printed: 'F', coded: '2', value: 'female' },
    ]),
    street: `${whole(10, 990)} EXAMPLE STREET`,
    postal: `9${some(random, 4, DIGITS)}`,
  };
}
type Facts = ReturnType<typeof factsOf>;

const common = (f: Facts) => [
  { name: 'family_name', value: f.family },
  { name: 'given_names', value: f.given },
  { name: 'birth_date', value: f.born.iso },
  { name: 'issue_date', value: f.issued.iso },
  { name: 'expiry_date', value: f.expires.iso },
];

function europeanFront(f: Facts) {
  const number = `${f.letter}${f.number}${f.postal}`;
  const written: Written[] = [
    [420, 90, 'FÜHRERSCHEIN', 40],
    [60, 120, 'D', 44],
    [420, 180, `1. ${f.family}`],
    [420, 235, `2. ${f.given}`],
    [420, 290, `3. ${f.born.dots} ${f.town}`],
    [420, 345, `4a. ${f.issued.dots}`],
    [800, 345, `4c. ${f.authority}`],
    [420, 400, `4b. ${f.expires.dots}`],
    [420, 455, `5. ${number}`],
    [420, 640, '9. AM/B/L'],
  ];
  const fields = [
    ...common(f),
    { name: 'number', value: number },
    { name: 'birth_place', value: f.town },
    { name: 'issuing_authority', value: f.authority },
  ];
  return { written, fields };
}

function americanFront(f: Facts) {
  const number = `${f.letter}${f.number}`;
  const written: Written[] = [
    [90, 100, 'CALIFORNIA', 44],
    [500, 100, 'DRIVER LICENSE', 38],
    [420, 190, `DL ${number}`],
    [900, 190, 'CLASS C'],
    [420, 250, `EXP ${f.expires.american}`],
    [420, 310, `LN ${f.family}`],
    [420, 370, `FN ${f.given}`],
    [420, 430, f.street],
    [420, 480, `${f.town}, CA ${f.postal}`],
    [420, 550, `DOB ${f.born.american}`],
    [420, 610, `SEX ${f.sex.printed}`],
    [760, 690, `ISS ${f.issued.american}`],
  ];
  const fields = [
    ...common(f),
    { name: 'number', value: number },
    { name: 'sex', value: f.sex.value },
    { name: 'address', value: `${f.street}, ${f.town}, CA ${f.postal}` },
  ];
  return { written, fields };
}

/** Annex D of the AAMVA DL/ID Card Design Standard. */
function coded(f: Facts): string {
  const [first = '', middle] = f.given.split(' ');
  return [
    `@\n\u001e\rANSI 636014080001DL00310200DLDAQ${f.letter}${f.number}`,
    `DCS${f.family}`,
    `DAC${first}`,
    ...(middle ? [`DAD${middle}`] : []),
    'DCAC',
    `DBD${f.issued.digits}`,
    `DBB${f.born.digits}`,
    `DBA${f.expires.digits}`,
    `DBC${f.sex.coded}`,
    `DAG${f.street}`,
    `DAI${f.town}`,
    'DAJCA',
    `DAK${f.postal}0000`,
    'DCGUSA\r',
  ].join('\n');
}

function americanBack(f: Facts) {
  const written: Written[] = [[90, 100, 'CLASS: C - ANY 2 AXLE VEHICLE']];
  return { written, fields: americanFront(f).fields, code: coded(f) };
}

const SIDES = { 'front EU': europeanFront, 'front US': americanFront, 'back US': americanBack } as const;

export async function drawLicense(kind: LicenseKind, random: Random): Promise<DrawnLicense> {
  const side: { written: Written[]; fields: DrawnLicense['fields']; code?: string } = SIDES[kind](factsOf(random));
  const font = oneOf(random, FONTS);
  const texts = side.written.map(
    ([x, y, text, size = 34]) => `<text x="${x}" y="${y}" font-family="${font}" font-size="${size}">${text}</text>`,
  );
  const code =
    side.code === undefined
      ? ''
      : `<image x="120" y="250" width="960" height="300" href="data:image/svg+xml;base64,${(await drawCode('PDF417', side.code, 3)).toString('base64')}"/>`;
  const plane: Plane = {
    width: WIDTH,
    height: HEIGHT,
    svg: `<rect width="${WIDTH}" height="${HEIGHT}" rx="30" fill="${oneOf(random, ['#f2ede6', '#f0dfe4', '#e4ecf2'])}"/><g fill="#1c1c22">${texts.join('')}</g>${code}`,
    vin: null,
    cells: [],
    reflection: between(random, 0, 0.25),
  };
  const { jpeg } = await photograph(plane, random, between(random, 0.7, 0.95), 1);
  return { jpeg, fields: side.fields };
}
