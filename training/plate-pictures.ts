/**
 * Draws number plates on a plain ground, with numbers of the formats that `plate.read` knows, seen at an angle. They are
 * drawings, not photographs: typefaces are those of the system, and there is no car around them.
 */
import { EUROPE } from '../src/endpoints/plate.read/grammars/europe.ts';
import { type Format, formatsOf } from '../src/endpoints/plate.read/grammars/grammar.ts';
import { NORTH_AMERICA } from '../src/endpoints/plate.read/grammars/north-america.ts';
import { between, oneOf, type Plane, photograph, type Random } from './print-pictures.ts';

const CONDENSED = ['DejaVu Sans Condensed', 'Liberation Sans Narrow', 'Liberation Sans', 'DejaVu Sans Mono'];
/** Width of the widest character of these typefaces, in sizes of the type. */
const WIDEST = 0.85;
/** Shorter numbers are not told from other print. */
const SHORTEST = 5;
const AMERICA = new Set(['US', 'CA']);
/** Country signs on the band of plates of the European Union. */
const SIGNS: Readonly<Record<string, string>> = {
  DE: 'D',
  FR: 'F',
  IT: 'I',
  ES: 'E',
  AT: 'A',
  PL: 'PL',
  RO: 'RO',
  CZ: 'CZ',
};

/** By country, so that one with many formats is not drawn more often. */
const FORMATS = Map.groupBy(
  formatsOf([...EUROPE, ...NORTH_AMERICA]).filter(({ length, needs }) => length >= SHORTEST && needs !== 'origin'),
  ({ country }) => country ?? '',
);

export interface DrawnPlate {
  jpeg: Buffer;
  /** Without spaces. */
  text: string;
  country: string;
}

export async function drawPlate(random: Random): Promise<DrawnPlate> {
  const country = oneOf(random, [...FORMATS.keys()]);
  const format = oneOf(random, FORMATS.get(country) ?? []);
  const groups = numberOf(format, random);
  const plane = AMERICA.has(country) ? american(groups, random) : european(groups, country, random);
  const { jpeg } = await photograph(plane, random, between(random, 0.06, 0.3));
  return { jpeg, text: groups.join(''), country };
}

function numberOf({ groups, codes }: Format, random: Random): string[] {
  return groups.map((places, index) =>
    index === 0 && codes ? oneOf(random, codes) : places.map((allowed) => oneOf(random, Array.from(allowed))).join(''),
  );
}

function european(groups: readonly string[], country: string, random: Random): Plane {
  const sign = SIGNS[country];
  const band =
    sign === undefined
      ? ''
      : `<rect x="6" y="6" width="42" height="108" rx="8" fill="#12348c"/><text x="27" y="104" text-anchor="middle" font-family="Liberation Sans" font-weight="bold" font-size="26" fill="#fff">${sign}</text>`;
  const ground = oneOf(random, ['#f4f4f0', '#f4f4f0', '#f4f4f0', '#efc62e']);
  return plateOf({
    text: groups.join(oneOf(random, [' ', ' ', '-'])),
    width: 520,
    height: 120,
    size: 100,
    ground,
    band,
    random,
  });
}

function american(groups: readonly string[], random: Random): Plane {
  const ground = oneOf(random, ['#f2f2ee', '#dfe9f2', '#f3efdb']);
  const motto = oneOf(random, ['SAMPLE STATE', 'EXAMPLE COAST', 'SPECIMEN VALLEY']);
  const band = `<text x="150" y="140" text-anchor="middle" font-family="DejaVu Sans" font-size="15" fill="#27408b">${motto}</text>`;
  return plateOf({
    text: groups.join(oneOf(random, [' ', '-', ''])),
    width: 300,
    height: 150,
    size: 72,
    ground,
    band,
    random,
  });
}

interface PlateSheet {
  text: string;
  width: number;
  height: number;
  size: number;
  ground: string;
  band: string;
  random: Random;
}

function plateOf({ text, width, height, size, ground, band, random }: PlateSheet): Plane {
  const [left, room] = [0.11 * width, 0.86 * width];
  const font = oneOf(random, CONDENSED);
  const ink = oneOf(random, ['#14161c', '#14161c', '#1b2f6b']);
  const baseline = height / 2 + 0.36 * size;
  // Each character in a cell of its own: librsvg knows no `textLength`.
  const cell = Math.min(room / text.length, 0.62 * size);
  const start = left + (room - cell * text.length) / 2;
  const narrow = Math.min(1, cell / (WIDEST * size));
  const characters = Array.from(
    text,
    (character, index) =>
      `<text transform="translate(${start + (index + 0.5) * cell} ${baseline}) scale(${narrow} 1)" text-anchor="middle">${character}</text>`,
  );
  const svg =
    `<rect width="${width}" height="${height}" rx="10" fill="${ground}"/>` +
    `<rect x="3" y="3" width="${width - 6}" height="${height - 6}" rx="9" fill="none" stroke="#222" stroke-width="3"/>` +
    `${band}<g font-family="${font}" font-weight="bold" font-size="${size}" fill="${ink}">${characters.join('')}</g>`;
  return { width, height, svg, vin: null, cells: [], reflection: between(random, 0, 0.4) };
}
