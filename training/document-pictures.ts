/**
 * Draws specimens of vehicle documents with known fields, in the arrangement of the real ones: registration certificates of
 * twelve countries, a title, invoices and insurance cards. Names and numbers are made up. They are drawings, not photographs.
 */
import sharp from 'sharp';
import { between, oneOf, type Plane, photograph, type Random, some } from './print-pictures.ts';

export const DOCUMENT_KINDS = [
  'registration DE',
  'registration FR',
  'registration IT',
  'registration PL',
  'registration CH',
  'registration GB',
  'registration DE in cells',
  'registration CH by numbers',
  'registration ES',
  'registration PT',
  'registration CZ',
  'registration SE',
  'registration HU',
  'registration LT',
  'title US',
  'invoice DE',
  'invoice FR',
  'invoice GB',
  'invoice of many lines',
  'insurance US',
  'insurance green card',
] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

export interface DrawnDocument {
  jpeg: Buffer;
  type: string;
  country: string | null;
  fields: { name: string; value: string | number }[];
}

const SANS = ['DejaVu Sans', 'Liberation Sans', 'Roboto', 'Open Sans'];
const TYPED = ['DejaVu Sans Mono', 'Liberation Mono', 'Liberation Sans', 'Courier Prime'];
const VIN_LETTERS = 'ABCDEFGHJKLMNPRSTUVWXYZ0123456789';
const DIGITS = '0123456789';
const LETTERS = 'ABCDEFGHJKLMNPRSTUVWXYZ';

const two = (value: number) => String(value).padStart(2, '0');

/** Facts of one made-up vehicle. */
function factsOf(random: Random) {
  const whole = (from: number, to: number) => Math.floor(between(random, from, to));
  const day = (firstYear: number, lastYear: number) => {
    const [y, m, d] = [whole(firstYear, lastYear + 1), whole(1, 13), whole(1, 29)];
    return {
      iso: `${y}-${two(m)}-${two(d)}`,
      dots: `${two(d)}.${two(m)}.${y}`,
      slashes: `${two(d)}/${two(m)}/${y}`,
      spaces: `${two(d)} ${two(m)} ${y}`,
      american: `${two(m)}/${two(d)}/${y}`,
    };
  };
  const [make, model] = oneOf(random, [
    ['VOLKSWAGEN', 'GOLF'],
    ['RENAULT', 'CLIO'],
    ['FIAT', 'PANDA'],
    ['SKODA', 'OCTAVIA'],
    ['TOYOTA', 'COROLLA'],
    ['FORD', 'FOCUS'],
    ['OPEL', 'ASTRA'],
    ['PEUGEOT', '308'],
    ['VOLVO', 'V60'],
  ] as const);
  return {
    make,
    model,
    vin: `${some(random, 11, VIN_LETTERS)}${some(random, 6, DIGITS)}`,
    first: day(2005, 2021),
    now: day(2022, 2026),
    later: day(2027, 2030),
    surname: oneOf(random, ['MUSTERMANN', 'SPECIMEN', 'VALBRUN', 'NOWAK', 'ROSSI', 'HOLLAND']),
    given: oneOf(random, ['ERIKA', 'JEAN', 'ANNA', 'MARIO', 'PETER']),
    street: oneOf(random, ['HAUPTSTR. 12', 'RUE DU LAC 4', 'MILL LANE 7', 'VIA ROMA 31']),
    town: oneOf(random, ['12345 MUSTERSTADT', '75000 SPECIMENVILLE', '00-123 WZOROWO']),
    variant: `${some(random, 2, LETTERS)}${some(random, 3, DIGITS)}${some(random, 1, LETTERS)}`,
    approval: `e${whole(1, 14)}*2007/46*${some(random, 4, DIGITS)}*${some(random, 2, DIGITS)}`,
    ccm: whole(900, 3000),
    kw: whole(44, 250),
    seats: whole(2, 8),
    kerb: whole(900, 1900),
    most: whole(1901, 2900),
    co2: whole(90, 220),
    km: whole(10_000, 250_000),
    color: oneOf(random, ['BLAU', 'SCHWARZ', 'WEISS', 'GRAU']),
    document: `${some(random, 2, LETTERS)}${some(random, 7, DIGITS)}`,
    cents: whole(10_000, 900_000),
    some: (count: number, alphabet: string) => some(random, count, alphabet),
  };
}
type Facts = ReturnType<typeof factsOf>;

interface Print {
  text: string;
  x: number;
  y: number;
  size: number;
  isTyped?: boolean;
  isBold?: boolean;
}
interface Sheet {
  width: number;
  height: number;
  ground: string;
  prints: Print[];
  type: string;
  country: string | null;
  fields: [name: string, value: string | number][];
}
type Entry = readonly [label: string, value: string, ...fields: (readonly [name: string, value: string | number])[]];

const label = (text: string, x: number, y: number, size = 18): Print => ({ text, x, y, size });
const value = (text: string, x: number, y: number, size = 24): Print => ({ text, x, y, size, isTyped: true });
const title = (text: string, x: number, y: number, size = 34): Print => ({ text, x, y, size, isBold: true });

/** Labels left, values beside them. */
function beside(entries: readonly Entry[], x: number, y: number, gap: number, pitch = 44): Print[] {
  return entries.flatMap(([name, printed], index) => [
    label(name, x, y + index * pitch),
    value(printed, x + gap, y + index * pitch),
  ]);
}

/** Labels above values, in columns. */
function above(entries: readonly Entry[], x: number, y: number, columns: number, width: number, pitch = 84): Print[] {
  return entries.flatMap(([name, printed], index) => {
    const [left, top] = [x + (index % columns) * width, y + Math.floor(index / columns) * pitch];
    return [label(name, left, top, 17), value(printed, left, top + 32)];
  });
}

const fieldsOf = (...columns: (readonly Entry[])[]) =>
  columns
    .flat()
    .flatMap(([, , ...fields]) => fields.map(([name, printed]): [string, string | number] => [name, printed]));

const REGISTRATION = 'registration_certificate';

function german(f: Facts): Sheet {
  const plate = `${f.some(2, LETTERS)}-${f.some(2, LETTERS)} ${f.some(4, DIGITS)}`;
  const left: Entry[] = [
    ['A', plate, ['registration_number', plate]],
    ['C.1.1', f.surname, ['holder_name', f.surname]],
    ['C.1.2', f.given],
    ['C.1.3', f.street, ['holder_address', `${f.street}, ${f.town}`]],
    ['', f.town],
    ['I', f.now.dots, ['registration_date', f.now.iso]],
    ['C.4c', 'EIGENTÜMER NICHT NACHGEWIESEN'],
  ];
  const middle: Entry[] = [
    ['B', f.first.dots, ['first_registration_date', f.first.iso]],
    ['J', 'M1', ['vehicle_category', 'M1']],
    ['E', f.vin, ['vin', f.vin]],
    ['D.1', f.make, ['make', f.make]],
    ['D.2', f.variant, ['variant', f.variant]],
    ['D.3', f.model, ['model', f.model]],
    ['P.3', 'BENZIN', ['fuel_type', 'BENZIN']],
    ['R', f.color, ['color', f.color]],
    ['K', f.approval, ['type_approval_number', f.approval]],
  ];
  const right: Entry[] = [
    ['P.1', `0${f.ccm}`, ['engine_displacement', f.ccm]],
    ['P.2', `00${f.kw}/05500`, ['power', f.kw]],
    ['G', `0${f.kerb}`, ['unladen_mass', f.kerb]],
    ['F.1', `0${f.most}`, ['maximum_mass', f.most]],
    ['F.2', `0${f.most}`, ['maximum_mass', f.most]],
    ['V.7', `${f.co2}`, ['co2_emissions', f.co2]],
    ['S.1', `00${f.seats}`, ['seats', f.seats]],
    ['T', '190'],
  ];
  return {
    width: 1500,
    height: 620,
    ground: '#dfe9dc',
    type: REGISTRATION,
    country: 'DE',
    fields: fieldsOf(left, middle, right),
    prints: [
      title('Zulassungsbescheinigung Teil I (Fahrzeugschein)', 60, 60),
      label('Europäische Gemeinschaft   Bundesrepublik Deutschland', 60, 95),
      ...beside(left, 60, 160, 75),
      ...beside(middle, 560, 160, 60),
      ...beside(right, 1130, 160, 60),
    ],
  };
}

function french(f: Facts): Sheet {
  const plate = `${f.some(2, LETTERS)}-${f.some(3, DIGITS)}-${f.some(2, LETTERS)}`;
  const rows: string[] = [
    `A   ${plate}        B   ${f.first.slashes}`,
    `C.1   ${f.surname} ${f.given}`,
    `C.4.1`,
    `D.1   ${f.make}        D.2   ${f.variant}`,
    `D.3   ${f.model}`,
    `E   ${f.vin}`,
    `F.1   ${f.most}      F.2   ${f.most}      G   ${f.kerb}      G.1   ${f.kerb - 75}`,
    `J   M1      J.1   VP      J.3   CI`,
    `K   ${f.approval}`,
    `P.1   ${f.ccm}      P.2   ${f.kw}      P.3   GO      P.6   5`,
    `S.1   ${f.seats}      U.1   72      V.7   ${f.co2}      V.9   EURO6`,
    `X.1   visite avant le ${f.later.slashes}`,
    `I   ${f.now.slashes}`,
  ];
  const prints: Print[] = rows.flatMap((row, index) => {
    const parts = row.split(/ {4,}/);
    return parts.flatMap((part, place) => {
      const [code = '', ...rest] = part.split('   ');
      const x = 60 + place * (parts.length > 2 ? 250 : 520);
      const y = 170 + index * 46;
      return [label(code, x, y, 20), value(rest.join(' '), x + 62, y, 22)];
    });
  });
  return {
    width: 1120,
    height: 810,
    ground: '#e8e4da',
    type: REGISTRATION,
    country: 'FR',
    prints: [
      title("CERTIFICAT D'IMMATRICULATION", 240, 100),
      label('RÉPUBLIQUE FRANÇAISE', 400, 50, 24),
      ...prints.filter(({ text }) => text !== ''),
    ],
    fields: [
      ['registration_number', plate],
      ['first_registration_date', f.first.iso],
      ['holder_name', `${f.surname} ${f.given}`],
      ['make', f.make],
      ['variant', f.variant],
      ['model', f.model],
      ['vin', f.vin],
      ['maximum_mass', f.most],
      ['maximum_mass', f.most],
      ['unladen_mass', f.kerb],
      ['unladen_mass', f.kerb - 75],
      ['vehicle_category', 'M1'],
      ['body_type', 'CI'],
      ['type_approval_number', f.approval],
      ['engine_displacement', f.ccm],
      ['power', f.kw],
      ['fuel_type', 'GO'],
      ['seats', f.seats],
      ['co2_emissions', f.co2],
      ['emission_class', 'EURO6'],
      ['next_inspection_date', f.later.iso],
      ['registration_date', f.now.iso],
    ],
  };
}

function italian(f: Facts): Sheet {
  const plate = `${f.some(2, LETTERS)}${f.some(3, DIGITS)}${f.some(2, LETTERS)}`;
  const left: Entry[] = [
    ['(A)', plate, ['registration_number', plate]],
    ['(B)', f.first.slashes, ['first_registration_date', f.first.iso]],
    ['(C.2.1)', f.surname],
    ['(C.2.2)', f.given],
    ['(D.1)', f.make, ['make', f.make]],
    ['(D.2)', f.variant, ['variant', f.variant]],
    ['(D.3)', f.model, ['model', f.model]],
    ['(E)', f.vin, ['vin', f.vin]],
  ];
  const right: Entry[] = [
    ['(F.2)', `${f.most} kg`, ['maximum_mass', f.most]],
    ['(J)', 'M1', ['vehicle_category', 'M1']],
    ['(K)', f.approval, ['type_approval_number', f.approval]],
    ['(P.1)', `${f.ccm} cm3`, ['engine_displacement', f.ccm]],
    ['(P.2)', `${f.kw},00 kW`, ['power', f.kw]],
    ['(P.3)', 'BENZ', ['fuel_type', 'BENZ']],
    ['(S.1)', `${f.seats}`, ['seats', f.seats]],
    ['(V.9)', '715/2007*692/2008A', ['emission_class', '715/2007*692/2008A']],
  ];
  return {
    width: 1200,
    height: 620,
    ground: '#f1f0e4',
    type: REGISTRATION,
    country: 'IT',
    fields: fieldsOf(left, right),
    prints: [
      title('CARTA DI CIRCOLAZIONE', 380, 60),
      label('REPUBBLICA ITALIANA', 480, 100, 22),
      ...beside(left, 60, 190, 100, 48),
      ...beside(right, 640, 190, 100, 48),
    ],
  };
}

function polish(f: Facts): Sheet {
  const plate = `${f.some(2, LETTERS)} ${f.some(5, DIGITS)}`;
  const left: Entry[] = [
    ['A  Numer rejestracyjny', plate, ['registration_number', plate]],
    ['B  Data pierwszej rejestracji', f.first.iso, ['first_registration_date', f.first.iso]],
    ['C.1.1  Nazwisko lub nazwa', f.surname, ['holder_name', f.surname]],
    ['D.1  Marka', f.make, ['make', f.make]],
    ['D.2  Typ', f.variant, ['variant', f.variant]],
    ['D.3  Model', f.model, ['model', f.model]],
    ['E  Numer identyfikacyjny pojazdu', f.vin, ['vin', f.vin]],
    ['I  Data wydania', f.now.iso, ['registration_date', f.now.iso]],
  ];
  const right: Entry[] = [
    ['F.1', `${f.most} kg`, ['maximum_mass', f.most]],
    ['F.2', `${f.most} kg`, ['maximum_mass', f.most]],
    ['G', `${f.kerb} kg`, ['unladen_mass', f.kerb]],
    ['J', 'M1', ['vehicle_category', 'M1']],
    ['K', f.approval, ['type_approval_number', f.approval]],
    ['P.1', `${f.ccm},00 cm3`, ['engine_displacement', f.ccm]],
    ['P.2', `${f.kw},00 kW`, ['power', f.kw]],
    ['P.3', 'P', ['fuel_type', 'P']],
    ['S.1', `${f.seats}`, ['seats', f.seats]],
  ];
  return {
    width: 1400,
    height: 640,
    ground: '#e6ead8',
    type: REGISTRATION,
    country: 'PL',
    fields: fieldsOf(left, right),
    prints: [
      title('DOWÓD REJESTRACYJNY', 460, 60),
      label('RZECZPOSPOLITA POLSKA', 540, 100, 22),
      ...beside(left, 50, 180, 360, 50),
      ...beside(right, 900, 180, 80, 46),
    ],
  };
}

function swiss(f: Facts): Sheet {
  const plate = `ZH ${f.some(6, DIGITS)}`;
  const entries: Entry[] = [
    ['15 Schild / Plaque / Targa', plate, ['registration_number', plate]],
    ['18 Stammnummer / No matricule', `${f.some(3, DIGITS)}.${f.some(3, DIGITS)}.${f.some(3, DIGITS)}`],
    ['21 Marke und Typ / Marque et type', `${f.make} ${f.model}`, ['make', `${f.make} ${f.model}`]],
    ['23 Fahrgestell-Nr. / Châssis No', f.vin, ['vin', f.vin]],
    ['25 Karosserie / Carrosserie', 'Limousine', ['body_type', 'Limousine']],
    ['26 Farbe / Couleur / Colore', f.color, ['color', f.color]],
    ['27 Plätze / Places / Posti', `${f.seats}`, ['seats', f.seats]],
    ['30 Leergewicht / Poids à vide kg', `${f.kerb}`, ['unladen_mass', f.kerb]],
    ['33 Gesamtgewicht / Poids total kg', `${f.most}`, ['maximum_mass', f.most]],
    ['36 1. Inverkehrsetzung', f.first.dots, ['first_registration_date', f.first.iso]],
    ['37 Hubraum / Cylindrée cm3', `${f.ccm}`, ['engine_displacement', f.ccm]],
    ['76 Leistung / Puissance kW', `${f.kw}`, ['power', f.kw]],
  ];
  const stamm = (entries[1] as Entry)[1];
  return {
    width: 1240,
    height: 800,
    ground: '#e7e2e9',
    type: REGISTRATION,
    country: 'CH',
    fields: [...fieldsOf(entries), ['document_number', stamm]],
    prints: [
      title('Fahrzeugausweis   Permis de circulation   Licenza di circolazione', 60, 60, 30),
      label('Schweizerische Eidgenossenschaft', 60, 100, 22),
      ...above(entries, 60, 170, 3, 390, 140),
    ],
  };
}

function british(f: Facts): Sheet {
  const plate = `${f.some(2, LETTERS)}${f.some(2, DIGITS)} ${f.some(3, LETTERS)}`;
  const entries: Entry[] = [
    ['A: Registration number', plate, ['registration_number', plate]],
    ['B: Date of first registration', f.first.spaces, ['first_registration_date', f.first.iso]],
    ['D.1: Make', f.make, ['make', f.make]],
    ['D.2: Type', f.variant, ['variant', f.variant]],
    ['D.3: Model', f.model, ['model', f.model]],
    ['D.5: Body type', '5 DOOR HATCHBACK', ['body_type', '5 DOOR HATCHBACK']],
    ['E: VIN/Chassis/Frame No', f.vin, ['vin', f.vin]],
    ['J: Vehicle category', 'M1', ['vehicle_category', 'M1']],
    ['P.1: Cylinder capacity (cc)', `${f.ccm} CC`, ['engine_displacement', f.ccm]],
    ['P.3: Type of fuel', 'PETROL', ['fuel_type', 'PETROL']],
    ['R: Colour', 'SILVER', ['color', 'SILVER']],
    ['S.1: Number of seats', `${f.seats}`, ['seats', f.seats]],
    ['V.7: CO2 (g/km)', `${f.co2} G/KM`, ['co2_emissions', f.co2]],
    ['Document reference number', f.some(11, DIGITS)],
  ];
  const reference = (entries.at(-1) as Entry)[1];
  return {
    width: 1000,
    height: 960,
    ground: '#dde3f0',
    type: REGISTRATION,
    country: 'GB',
    fields: [...fieldsOf(entries), ['document_number', reference]],
    prints: [
      title('Registration Certificate', 60, 60, 40),
      title('V5C', 860, 60, 40),
      label('Driver and Vehicle Licensing Agency', 60, 110, 24),
      label('This document is not proof of ownership. It shows who is responsible for', 60, 150, 20),
      label('registering and taxing the vehicle.', 60, 178, 20),
      ...beside(entries, 60, 250, 400, 48),
    ],
  };
}

/** As the real form has it: small codes in the corners of ruled cells, most of them single letters. */
function germanCells(f: Facts): Sheet {
  const { prints: _, ...sheet } = german(f);
  const plate = String(sheet.fields[0]?.[1]);
  const cells: (readonly [code: string, value: string, column: number, row: number])[] = [
    ['B', f.first.dots, 0, 0],
    ['J', 'M1', 0, 1],
    ['E', f.vin, 0, 2],
    ['D.1', f.make, 0, 3],
    ['D.2', f.variant, 0, 4],
    ['D.3', f.model, 0, 5],
    ['P.3', 'BENZIN', 0, 6],
    ['R', f.color, 0, 7],
    ['K', f.approval, 0, 8],
    ['P.1', `0${f.ccm}`, 1, 0],
    ['P.2', `00${f.kw}/05500`, 1, 1],
    ['G', `0${f.kerb}`, 1, 2],
    ['F.1', `0${f.most}`, 1, 3],
    ['F.2', `0${f.most}`, 1, 4],
    ['V.7', `${f.co2}`, 1, 5],
    ['S.1', `00${f.seats}`, 1, 6],
    ['T', '190', 1, 7],
  ];
  const own: Entry[] = [
    ['A Amtliches Kennzeichen', plate],
    ['C.1.1 Name oder Firmenname', f.surname],
    ['C.1.2 Vorname(n)', f.given],
  ];
  return {
    ...sheet,
    prints: [
      title('Zulassungsbescheinigung Teil I', 40, 60, 30),
      label('Europäische Gemeinschaft   Bundesrepublik Deutschland', 40, 95, 15),
      ...own.flatMap(([name, printed], index) => [
        label(name, 40, 160 + 80 * index, 14),
        value(printed, 60, 192 + 80 * index, 22),
      ]),
      label('C.1.3 Anschrift', 40, 400, 14),
      value(f.street, 60, 432, 22),
      value(f.town, 60, 462, 22),
      label('I Datum:', 40, 522, 14),
      value(f.now.dots, 110, 524, 22),
      ...cells.flatMap(([code, printed, column, row]) => [
        label(code, 520 + 500 * column, 140 + 48 * row, 14),
        value(printed, 565 + 500 * column, 143 + 48 * row, 22),
      ]),
    ],
  };
}

/** Numbers without the labels, which are too small to be read in many photographs. */
function swissNumbers(f: Facts): Sheet {
  const sheet = swiss(f);
  const [first, second, ...rest] = sheet.prints;
  const prints = rest.map((print) => ({ ...print, text: print.isTyped ? print.text : print.text.slice(0, 2) }));
  return { ...sheet, prints: [first, second, ...prints].filter((print) => print !== undefined) };
}

interface CertificateWords {
  country: string;
  title: string;
  state: string;
  date: 'dots' | 'slashes' | 'iso';
  /** Of the codes A, B, C.1.1, D.1, D.3, E, G, F.2, I, P.1, P.2, P.3, R, S.1. */
  labels: readonly string[];
}

const CERTIFICATES = {
  ES: {
    country: 'ES',
    title: 'PERMISO DE CIRCULACIÓN',
    state: 'REINO DE ESPAÑA',
    date: 'slashes',
    labels:
      'Matrícula|Fecha de primera matriculación|Apellidos o razón social|Marca|Denominación comercial|Número de identificación|Masa en servicio|Masa máxima en carga admisible|Fecha de la matriculación|Cilindrada|Potencia neta máxima|Tipo de combustible|Color|Plazas de asiento'.split(
        '|',
      ),
  },
  PT: {
    country: 'PT',
    title: 'CERTIFICADO DE MATRÍCULA',
    state: 'REPÚBLICA PORTUGUESA',
    date: 'slashes',
    labels:
      'Número de matrícula|Data da primeira matrícula|Apelido|Marca|Modelo|Nº do quadro|Tara|Peso bruto|Data da matrícula|Cilindrada|Potência|Combustível|Cor|Lotação'.split(
        '|',
      ),
  },
  CZ: {
    country: 'CZ',
    title: 'OSVĚDČENÍ O REGISTRACI',
    state: 'ČESKÁ REPUBLIKA',
    date: 'dots',
    labels:
      'Registrační značka vozidla|Datum první registrace vozidla|Příjmení nebo obchodní firma|Tovární značka|Obchodní označení|Identifikační číslo vozidla|Provozní hmotnost|Největší povolená hmotnost|Datum registrace vozidla|Zdvihový objem|Nejvyšší výkon|Palivo|Barva|Počet míst k sezení'.split(
        '|',
      ),
  },
  SE: {
    country: 'SE',
    title: 'REGISTRERINGSBEVIS',
    state: 'SVERIGE Transportstyrelsen',
    date: 'iso',
    labels:
      'Registreringsnummer|Datum för första registrering|Efternamn|Fabrikat|Handelsbeteckning|Identifieringsnummer|Tjänstevikt|Totalvikt|Registreringsdatum|Cylindervolym|Effekt|Drivmedel|Färg|Antal sittplatser'.split(
        '|',
      ),
  },
  HU: {
    country: 'HU',
    title: 'FORGALMI ENGEDÉLY',
    state: 'MAGYARORSZÁG',
    date: 'iso',
    labels:
      'Rendszám|Első nyilvántartásba vétel|Családi név vagy cégnév|Gyártmány|Kereskedelmi leírás|Alvázszám|Saját tömeg|Össztömeg|Kiállítás dátuma|Hengerűrtartalom|Teljesítmény|Hajtóanyag|Szín|Ülések száma'.split(
        '|',
      ),
  },
  LT: {
    country: 'LT',
    title: 'REGISTRACIJOS LIUDIJIMAS',
    state: 'LIETUVOS RESPUBLIKA',
    date: 'iso',
    labels:
      'Registracijos numeris|Pirmosios registracijos data|Pavardė|Gamybinė markė|Komercinis pavadinimas|Identifikavimo numeris|Savoji masė|Didžiausioji leidžiama masė|Registracijos data|Darbinis tūris|Galia|Degalų tipas|Spalva|Sėdimų vietų skaičius'.split(
        '|',
      ),
  },
} as const satisfies Record<string, CertificateWords>;

/** Codes before labels, values beside them: two columns, as most certificates are. */
function certificate({ country, title: heading, state, date, labels }: CertificateWords): (f: Facts) => Sheet {
  return (f) => {
    const plate = `${f.some(3, LETTERS)} ${f.some(3, DIGITS)}`;
    const values: (readonly [code: string, printed: string, name: string, value: string | number])[] = [
      ['A', plate, 'registration_number', plate],
      ['B', f.first[date], 'first_registration_date', f.first.iso],
      ['C.1.1', f.surname, 'holder_name', f.surname],
      ['D.1', f.make, 'make', f.make],
      ['D.3', f.model, 'model', f.model],
      ['E', f.vin, 'vin', f.vin],
      ['G', `${f.kerb} kg`, 'unladen_mass', f.kerb],
      ['F.2', `${f.most} kg`, 'maximum_mass', f.most],
      ['I', f.now[date], 'registration_date', f.now.iso],
      ['P.1', `${f.ccm}`, 'engine_displacement', f.ccm],
      ['P.2', `${f.kw} kW`, 'power', f.kw],
      ['P.3', 'B95', 'fuel_type', 'B95'],
      ['R', f.color, 'color', f.color],
      ['S.1', `${f.seats}`, 'seats', f.seats],
    ];
    const entries = values.map(
      ([code, printed, name, drawn], index): Entry => [`${code}  ${labels[index]}`, printed, [name, drawn]],
    );
    return {
      width: 1500,
      height: 560,
      ground: '#e4e9e6',
      type: REGISTRATION,
      country,
      fields: fieldsOf(entries),
      prints: [
        title(heading, 460, 60),
        label(state, 560, 100, 22),
        ...beside(entries.slice(0, 7), 50, 180, 400, 50),
        ...beside(entries.slice(7), 840, 180, 400, 50),
      ],
    };
  };
}

function american(f: Facts): Sheet {
  const year = Number(f.first.iso.slice(0, 4));
  const number = f.some(10, DIGITS);
  const entries: Entry[] = [
    ['VEHICLE IDENTIFICATION NUMBER', f.vin, ['vin', f.vin]],
    ['YEAR', `${year}`, ['model_year', year]],
    ['MAKE', f.make, ['make', f.make]],
    ['MODEL', f.model, ['model', f.model]],
    ['BODY TYPE', '4D', ['body_type', '4D']],
    ['TITLE NUMBER', number, ['document_number', number]],
    ['DATE ISSUED', f.now.american, ['issue_date', f.now.iso]],
    ['ODOMETER (MILES)', `${f.km}`, ['odometer', f.km]],
    ['BRANDS', 'REBUILT SALVAGE', ['title_brand', 'REBUILT SALVAGE']],
    ['OWNER NAME', `${f.given} ${f.surname}`, ['holder_name', `${f.given} ${f.surname}`]],
    ['FIRST LIENHOLDER', 'SAMPLE COUNTY BANK', ['lienholder_name', 'SAMPLE COUNTY BANK']],
    ['COLOR', 'BLUE', ['color', 'BLUE']],
  ];
  return {
    width: 1300,
    height: 760,
    ground: '#e9efe2',
    type: 'title',
    country: 'US',
    fields: fieldsOf(entries),
    prints: [
      title('STATE OF EXAMPLE', 470, 60, 36),
      title('CERTIFICATE OF TITLE', 420, 110, 40),
      ...above(entries, 70, 190, 3, 430, 110),
      label('The department certifies that the person named above is the lawful owner of the vehicle', 70, 680, 20),
      label('described, subject to the liens shown.', 70, 710, 20),
    ],
  };
}

const grouped = (cents: number, thousands: string, decimal: string) => {
  const whole = String(Math.floor(cents / 100)).replace(/\B(?=(\d{3})+$)/g, thousands);
  return `${whole}${decimal}${two(cents % 100)}`;
};

interface Words {
  issuer: string;
  lines: string[];
  title: string;
  number: string;
  date: string;
  vin: string;
  plate: string;
  km: string;
  net: string;
  tax: string;
  total: string;
}

function bill(
  f: Facts,
  words: Words,
  rate: number,
  money: (cents: number) => string,
  country: string,
  date: string,
  unit: string,
  row: string,
): Sheet {
  const [net, tax] = [f.cents, Math.round((f.cents * rate) / 100)];
  const number = `2026-${f.some(5, DIGITS)}`;
  const plate = `${f.some(2, LETTERS)}-${f.some(3, DIGITS)}-${f.some(2, LETTERS)}`;
  const head: Entry[] = [
    [words.number, number, ['invoice_number', number]],
    [words.date, date, ['issue_date', f.now.iso]],
    [words.plate, plate, ['registration_number', plate]],
    [words.vin, f.vin, ['vin', f.vin]],
    [words.km, `${f.km} ${unit}`, ['odometer', f.km]],
  ];
  const foot: Entry[] = [
    [words.net, money(net), ['net_amount', net]],
    [words.tax, money(tax), ['tax_amount', tax]],
    [words.total, money(net + tax), ['total_amount', net + tax]],
  ];
  return {
    width: 1000,
    height: 1100,
    ground: '#f4f4f1',
    type: 'invoice',
    country,
    fields: [['issuer_name', words.issuer], ...fieldsOf(head, foot)],
    prints: [
      title(words.issuer, 70, 80, 30),
      ...words.lines.map((text, index) => label(text, 70, 115 + 28 * index, 20)),
      title(words.title, 70, 270, 40),
      ...beside(head, 70, 340, 330, 42),
      label(row, 70, 600, 20),
      ...[0.55, 0.3, 0.15].flatMap((share, index) => [
        label(
          `${index + 1}   ${oneOf(() => index / 3, ['Bremsscheiben', 'Oil filter', 'Service'])}`,
          70,
          650 + 38 * index,
          20,
        ),
        label(money(Math.round(net * share)), 780, 650 + 38 * index, 20),
      ]),
      ...foot.flatMap(([name, printed], index) => [
        label(name, 480, 860 + 48 * index, 22),
        value(printed, 760, 860 + 48 * index),
      ]),
    ],
  };
}

const GERMAN_BILL: Words = {
  issuer: 'Werkstatt Beispiel GmbH',
  lines: ['Industriestraße 5, 12345 Musterstadt'],
  title: 'Rechnung',
  number: 'Rechnungsnummer:',
  date: 'Rechnungsdatum:',
  vin: 'FIN:',
  plate: 'Kennzeichen:',
  km: 'km-Stand:',
  net: 'Nettobetrag',
  tax: 'MwSt. 19 %',
  total: 'Gesamtbetrag',
};
const euros = (cents: number) => `${grouped(cents, '.', ',')} EUR`;

const ITEMS = 26;
const PITCH = 26;

/** More than a hundred lines of print: the items are small. */
function manyLines(f: Facts): Sheet {
  const sheet = bill(
    f,
    { ...GERMAN_BILL, lines: [...GERMAN_BILL.lines, `USt-IdNr. DE${f.some(9, DIGITS)}`] },
    19,
    euros,
    'DE',
    f.now.dots,
    'km',
    'Pos',
  );
  const isItem = ({ y }: Print) => y >= 600 && y < 860;
  const items = Array.from({ length: ITEMS }, (_, index) => {
    const y = 600 + PITCH * index;
    const cells = [`${index + 1}`, f.some(8, DIGITS), 'Schraube M8', euros(100 + index)] as const;
    return cells.map((text, column) => label(text, 70 + 230 * column, y, 18));
  }).flat();
  const below = PITCH * ITEMS - 260;
  const kept = sheet.prints.filter((print) => !isItem(print));
  const moved = kept.map((print) => (print.y >= 860 ? { ...print, y: print.y + below } : print));
  return { ...sheet, height: sheet.height + below, prints: [...moved, ...items] };
}

const SHEETS: Readonly<Record<DocumentKind, (facts: Facts) => Sheet>> = {
  'registration DE': german,
  'registration FR': french,
  'registration IT': italian,
  'registration PL': polish,
  'registration CH': swiss,
  'registration GB': british,
  'registration DE in cells': germanCells,
  'registration CH by numbers': swissNumbers,
  'registration ES': certificate(CERTIFICATES.ES),
  'registration PT': certificate(CERTIFICATES.PT),
  'registration CZ': certificate(CERTIFICATES.CZ),
  'registration SE': certificate(CERTIFICATES.SE),
  'registration HU': certificate(CERTIFICATES.HU),
  'registration LT': certificate(CERTIFICATES.LT),
  'title US': american,
  'invoice DE': (f) =>
    bill(
      f,
      { ...GERMAN_BILL, lines: [...GERMAN_BILL.lines, `USt-IdNr. DE${f.some(9, DIGITS)}`] },
      19,
      euros,
      'DE',
      f.now.dots,
      'km',
      'Pos   Bezeichnung   Betrag',
    ),
  'invoice FR': (f) =>
    bill(
      f,
      {
        issuer: 'Garage du Lac SARL',
        lines: ['4 rue du Lac, 75000 Specimenville', `SIRET ${f.some(14, DIGITS)}`],
        title: 'FACTURE',
        number: 'Facture N° :',
        date: 'Date de facture :',
        vin: 'N° VIN :',
        plate: 'Immatriculation :',
        km: 'Kilométrage :',
        net: 'Total HT',
        tax: 'TVA 20 %',
        total: 'Total TTC',
      },
      20,
      (cents) => `${grouped(cents, ' ', ',')} €`,
      'FR',
      f.now.slashes,
      'km',
      'Désignation   Montant',
    ),
  'invoice GB': (f) =>
    bill(
      f,
      {
        issuer: 'Mill Lane Motors Ltd',
        lines: ['7 Mill Lane, Sampleton', `VAT No GB ${f.some(3, DIGITS)} ${f.some(4, DIGITS)} ${f.some(2, DIGITS)}`],
        title: 'INVOICE',
        number: 'Invoice No:',
        date: 'Invoice date:',
        vin: 'VIN:',
        plate: 'Registration:',
        km: 'Mileage:',
        net: 'Subtotal',
        tax: 'VAT 20%',
        total: 'Total',
      },
      20,
      (cents) => `£${grouped(cents, ',', '.')}`,
      'GB',
      f.now.slashes,
      'miles',
      'Description   Amount',
    ),
  'invoice of many lines': (f) => manyLines(f),
  'insurance US': (f) => {
    const policy = `${f.some(3, DIGITS)}-${f.some(4, DIGITS)}-${f.some(3, LETTERS)}`;
    const year = Number(f.first.iso.slice(0, 4));
    const entries: Entry[] = [
      ['POLICY NUMBER', policy, ['policy_number', policy]],
      ['EFFECTIVE DATE', f.now.american, ['valid_from_date', f.now.iso]],
      ['EXPIRATION DATE', f.later.american, ['expiry_date', f.later.iso]],
      ['YEAR', `${year}`, ['model_year', year]],
      ['MAKE', f.make, ['make', f.make]],
      ['MODEL', f.model, ['model', f.model]],
      ['VEHICLE IDENTIFICATION NUMBER', f.vin, ['vin', f.vin]],
      ['INSURED', `${f.given} ${f.surname}`, ['holder_name', `${f.given} ${f.surname}`]],
      ['COMPANY', 'SAMPLE MUTUAL INSURANCE', ['insurer_name', 'SAMPLE MUTUAL INSURANCE']],
    ];
    return {
      width: 1200,
      height: 560,
      ground: '#f3f3ee',
      type: 'insurance_card',
      country: 'US',
      fields: fieldsOf(entries),
      prints: [
        title('INSURANCE IDENTIFICATION CARD', 260, 70, 36),
        label('STATE OF EXAMPLE', 480, 110, 22),
        ...above(entries, 60, 190, 3, 390, 110),
        label('THIS CARD MUST BE CARRIED IN THE INSURED VEHICLE', 250, 520, 20),
      ],
    };
  },
  'insurance green card': (f) => {
    const plate = `${f.some(2, LETTERS)}-${f.some(3, DIGITS)}-${f.some(2, LETTERS)}`;
    const policy = `${f.some(9, DIGITS)}`;
    const entries: Entry[] = [
      ['Valid from', f.now.slashes, ['valid_from_date', f.now.iso]],
      ['Valid to', f.later.slashes, ['expiry_date', f.later.iso]],
      ['Policy number', policy, ['policy_number', policy]],
      ['Registration No', plate, ['registration_number', plate]],
      ['Make', f.make, ['make', f.make]],
      ['Category', 'A'],
      ['Policyholder', `${f.surname} ${f.given}`, ['holder_name', `${f.surname} ${f.given}`]],
      ['Insurer', 'Specimen Assurances SA', ['insurer_name', 'Specimen Assurances SA']],
    ];
    return {
      width: 1150,
      height: 640,
      ground: '#cfe3cf',
      type: 'insurance_card',
      country: null,
      fields: fieldsOf(entries),
      prints: [
        title('INTERNATIONAL MOTOR INSURANCE CARD', 170, 60, 34),
        label("CARTE INTERNATIONALE D'ASSURANCE AUTOMOBILE", 280, 100, 22),
        ...above(entries, 60, 180, 2, 540, 100),
      ],
    };
  },
};

/** Turned clockwise by so many degrees, as a camera held otherwise: 0, 90, 180 or 270. */
export async function drawDocument(kind: DocumentKind, random: Random, turnDegrees = 0): Promise<DrawnDocument> {
  const sheet = SHEETS[kind](factsOf(random));
  const { jpeg } = await photograph(planeOf(sheet, random), random, between(random, 0.8, 0.95), 1);
  const fields = sheet.fields.map(([name, printed]) => ({ name, value: printed }));
  const turned = turnDegrees === 0 ? jpeg : await sharp(jpeg).rotate(turnDegrees).jpeg({ quality: 90 }).toBuffer();
  return { jpeg: turned, type: sheet.type, country: sheet.country, fields };
}

function planeOf({ width, height, ground, prints }: Sheet, random: Random): Plane {
  const [font, typed] = [oneOf(random, SANS), oneOf(random, TYPED)];
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const drawn = prints.map(
    ({ text, x, y, size, isTyped, isBold }) =>
      `<text x="${x}" y="${y}" xml:space="preserve" font-family="${isTyped ? typed : font}" font-size="${size}" font-weight="${isBold ? 'bold' : 'normal'}">${escaped(text)}</text>`,
  );
  const svg = `<rect width="${width}" height="${height}" fill="${ground}"/><g fill="#1c1c22">${drawn.join('')}</g>`;
  return { width, height, svg, vin: null, cells: [], reflection: between(random, 0, 0.25) };
}
