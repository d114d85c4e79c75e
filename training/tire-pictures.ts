/**
 * Draws pictures of tire sidewalls with known text: in straight rows, along arcs, and whole wheels or parts of them. Black on
 * black, seen at an angle, out of focus, noisy, with reflections, as JPEG. They are drawings, not photographs.
 */
import { between, line, oneOf, type Plane, photograph, type Random, SANS, some, tint } from './print-pictures.ts';

export interface DrawnTire {
  jpeg: Buffer;
  /** As printed; the service description after the size. */
  size: string;
  loadIndex: number;
  speedIndex: string;
  dot: string;
  week: number;
  year: number;
  marks: string[];
  brand: string;
}

const BRANDS = ['MICHELIN', 'CONTINENTAL', 'BRIDGESTONE', 'GOODYEAR', 'PIRELLI', 'DUNLOP', 'HANKOOK', 'YOKOHAMA'];
/** Words beside the size that mean nothing to a reader of sizes. */
const WORDS = ['RADIAL', 'STEEL BELTED', 'TREAD PLIES 2 POLYESTER 2 STEEL', 'MAX LOAD 615 KG', 'SAFETY WARNING', 'E4'];

/** Sizes that are sold, with their load indexes. */
const METRIC = [
  '155/65R14 75',
  '165/65R14 79',
  '175/65R14 82',
  '175/70R13 82',
  '185/60R15 84',
  '185/65R15 88',
  '195/50R15 82',
  '195/55R16 87',
  '195/65R15 91',
  '205/45R17 88',
  '205/50R17 93',
  '205/55R16 91',
  '205/55R16 94',
  '205/60R16 92',
  '215/45R17 91',
  '215/55R17 94',
  '215/60R16 99',
  '215/65R16 98',
  '225/40R18 92',
  '225/45R17 94',
  '225/45R18 95',
  '225/50R17 98',
  '225/65R17 102',
  '235/35R19 91',
  '235/55R17 99',
  '235/60R18 103',
  '235/65R17 108',
  '245/40R18 97',
  '245/45R18 100',
  '255/35R19 96',
  '255/50R19 107',
  '255/55R18 109',
  '265/70R16 112',
  '275/40R20 106',
  '285/35R20 104',
];
const COMMERCIAL = [
  '175/65R14C 90',
  '195/70R15C 104',
  '205/65R16C 107',
  '215/65R16C 109',
  '225/70R15C 112',
  '235/65R16C 115',
];
const LIGHT_TRUCK = ['LT235/85R16 120', 'LT245/75R16 120', 'LT265/70R17 121', 'LT275/70R18 125', 'LT285/75R16 126'];
const FLOTATION = ['31x10.50R15LT 109', '33x12.50R15LT 108', '35x12.50R17LT 121'];

type Size = Pick<DrawnTire, 'size' | 'loadIndex' | 'speedIndex'>;

function randomSize(random: Random): Size {
  const kind = random();
  const [sizes, speeds] =
    kind < 0.75
      ? [METRIC, ['Q', 'T', 'H', 'V', 'W', 'Y']]
      : kind < 0.85
        ? [COMMERCIAL, ['Q', 'R', 'S', 'T']]
        : kind < 0.95
          ? [LIGHT_TRUCK, ['Q', 'R', 'S']]
          : [FLOTATION, ['Q', 'R', 'S']];
  const [bare = '', load = ''] = oneOf(random, sizes).split(' ');
  const speedIndex = oneOf(random, speeds);
  const isFast = kind < 0.75 && (speedIndex === 'W' || speedIndex === 'Y') && random() < 0.5;
  const isMetric = kind < 0.75 && !isFast && random() < 0.25;
  const spaced = random() < 0.5 && kind < 0.95 ? bare.replace('R', ' R') : bare;
  const fast = isFast ? spaced.replace('R', 'ZR') : spaced;
  return { size: `${isMetric ? 'P' : ''}${fast}`, loadIndex: Number(load), speedIndex };
}

/** All that a sidewall states. */
function randomTire(random: Random): Omit<DrawnTire, 'jpeg'> {
  const symbols = 'ABCDEFHJKLMNPRTUVWXY0123456789';
  const week = Math.floor(between(random, 1, 53));
  const year = Math.floor(between(random, 2010, 2026));
  const date = `${String(week).padStart(2, '0')}${String(year).slice(2)}`;
  const groups =
    random() < 0.5
      ? [some(random, 4, symbols), some(random, 4, symbols), date]
      : [some(random, 3, symbols), some(random, 6, symbols), date];
  const marks = ['M+S', 'TUBELESS', 'XL'].filter(() => random() < 0.5);
  return { ...randomSize(random), dot: `DOT ${groups.join(' ')}`, week, year, marks, brand: oneOf(random, BRANDS) };
}

/** A piece of a sidewall with its lettering in straight rows, as a close picture shows it. */
export async function drawTire(random: Random): Promise<DrawnTire> {
  const tire = randomTire(random);
  const rows = [
    { text: tire.brand, size: between(random, 110, 150) },
    { text: `${tire.size} ${tire.loadIndex}${tire.speedIndex}`, size: between(random, 75, 110) },
    { text: ['RADIAL', ...tire.marks].join('  '), size: between(random, 45, 60) },
    { text: tire.dot, size: between(random, 50, 70) },
  ];
  const rubber = randomRubber(random);
  const font = oneOf(random, SANS);
  let [svg, y] = ['', 60];
  for (const row of rows) {
    y += row.size;
    svg += line(row.text, between(random, 60, 160), y, row.size, font, 'bold');
    y += between(random, 40, 80);
  }
  const height = y + 40;
  const drawn = `<rect width="${WIDTH}" height="${height}" fill="${tint(random, rubber.ground)}"/>${embossed(random, svg, rubber)}`;
  const { jpeg } = await photograph(planeOf(random, drawn, height), random, between(random, 0.45, 0.95));
  return { jpeg, ...tire };
}

/** Longer arcs carry more than the size: no sidewall has letters that large. */
const LONG_DEGREES = 100;

/**
 * Size and service description along an arc of so many degrees, at most 300, on bare rubber; along a long one between brand and
 * DOT code.
 */
export async function drawArc(random: Random, spanDegrees: number): Promise<DrawnTire> {
  const tire = randomTire(random);
  const sized = `${tire.size} ${tire.loadIndex}${tire.speedIndex}`;
  const text = spanDegrees > LONG_DEGREES ? [tire.brand, sized, tire.dot].join(' '.repeat(4)) : sized;
  const span = radians(spanDegrees);
  const sizePerRadius = span / text.length / 0.68;
  // As wide as the plane allows: the chord, or the diameter.
  const radius = 640 / (Math.sin(Math.min(span, Math.PI) / 2) * (1 + sizePerRadius));
  const size = radius * sizePerRadius;
  const center = { x: WIDTH / 2, y: radius + 1.4 * size };
  const rubber = randomRubber(random);
  const letters = alongArc(text, { center, radius, size, font: oneOf(random, SANS), middle: -Math.PI / 2, span });
  const height = Math.round(radius * (1 - Math.cos(span / 2)) + 2.4 * size);
  const drawn = `<rect width="${WIDTH}" height="${height}" fill="${tint(random, rubber.ground)}"/>${embossed(random, letters, rubber)}`;
  const { jpeg } = await photograph(planeOf(random, drawn, height), random, between(random, 0.45, 0.95));
  return { jpeg, ...tire };
}

const OUTER = 760;

/**
 * A wheel, or so many degrees of it: rim with spokes, ribs, tread, and the lettering of a sidewall embossed around it. The size
 * is in the middle of what is shown. Some of the lettering in the lower half has its feet outwards.
 */
export async function drawWheel(random: Random, shownDegrees: number): Promise<DrawnTire> {
  const tire = randomTire(random);
  const center = { x: 800, y: 800 };
  const rim = OUTER * between(random, 0.56, 0.68);
  const rubber = randomRubber(random);
  const font = oneOf(random, SANS);
  const sidewall = OUTER - rim;
  const top = shownDegrees >= 360 ? between(random, 0, 2 * Math.PI) : -Math.PI / 2;
  const texts = [
    { text: `${tire.size} ${tire.loadIndex}${tire.speedIndex}`, size: 0.24 * sidewall, share: 0.42, turn: 0 },
    { text: tire.dot, size: 0.16 * sidewall, share: 0.16, turn: between(random, -0.25, 0.25) },
    { text: tire.brand, size: 0.36 * sidewall, share: 0.4, turn: between(random, 1.2, 1.5) },
    { text: ['RADIAL', ...tire.marks].join(' '), size: 0.14 * sidewall, share: 0.3, turn: -between(random, 1.2, 1.5) },
    { text: oneOf(random, WORDS), size: 0.12 * sidewall, share: 0.16, turn: -between(random, 1.1, 1.4) },
    { text: oneOf(random, WORDS), size: 0.12 * sidewall, share: 0.3, turn: between(random, 2.2, 2.6) },
  ];
  const letters = texts.map(({ text, size, share, turn }) => {
    const radius = rim + share * sidewall;
    const span = (text.length * 0.72 * size) / radius;
    const middle = top + turn;
    const isReversed = Math.sin(middle) > 0.4 && random() < 0.4;
    return alongArc(text, { center, radius, size, font, middle, span, isReversed });
  });
  const svg = wheel(random, { center, rim, ground: rubber.ground }) + embossed(random, letters.join(''), rubber);
  const shown = shownDegrees >= 360 ? null : (OUTER + 40) * Math.sin(radians(Math.min(shownDegrees, 180)) / 2);
  const depth = shownDegrees >= 360 ? 1600 : (OUTER + 40) * (1 - Math.cos(radians(shownDegrees) / 2)) + 0.9 * sidewall;
  const width = shown === null ? 1600 : 2 * shown;
  const view = `<svg x="0" y="0" width="${width}" height="${depth}" viewBox="${800 - width / 2} 0 ${width} ${depth}">${svg}</svg>`;
  const plane = { ...planeOf(random, view, depth), width };
  const { jpeg } = await photograph(plane, random, between(random, 0.7, 0.95), 1.4);
  return { jpeg, ...tire };
}

function wheel(
  random: Random,
  { center: { x, y }, rim, ground }: { center: { x: number; y: number }; rim: number; ground: number },
): string {
  const ring = (radius: number, colour: string, width: number) =>
    `<circle cx="${x}" cy="${y}" r="${radius}" fill="none" stroke="${colour}" stroke-width="${width}"/>`;
  const metal = between(random, 70, 200);
  const count = Math.floor(between(random, 5, 12));
  const spokes = Array.from({ length: count }, (_, index) => {
    const turn = `rotate(${(360 * index) / count},${x},${y})`;
    return `<rect x="${x - 30}" y="${y - rim}" width="60" height="${rim}" fill="${tint(random, metal * 0.9)}" transform="${turn}"/>`;
  });
  const notches = Array.from({ length: 90 }, (_, index) => {
    const turn = `rotate(${4 * index},${x},${y})`;
    return `<rect x="${x - 8}" y="${y - OUTER}" width="16" height="34" fill="${tint(random, ground * 0.5)}" transform="${turn}"/>`;
  });
  return [
    `<rect width="1600" height="1600" fill="${tint(random, between(random, 60, 170))}"/>`,
    `<circle cx="${x}" cy="${y}" r="${OUTER}" fill="${tint(random, ground)}"/>`,
    ...notches,
    ring(rim + 0.12 * (OUTER - rim), tint(random, ground * 1.25), 4),
    ring(rim + 0.86 * (OUTER - rim), tint(random, ground * 0.7), 5),
    `<circle cx="${x}" cy="${y}" r="${rim}" fill="${tint(random, metal)}"/>`,
    `<circle cx="${x}" cy="${y}" r="${0.9 * rim}" fill="${tint(random, 35)}"/>`,
    ...spokes,
    `<circle cx="${x}" cy="${y}" r="${0.2 * rim}" fill="${tint(random, metal * 0.8)}"/>`,
  ].join('');
}

interface Arc {
  center: { x: number; y: number };
  radius: number;
  size: number;
  font: string;
  /** Angle of the middle of the text and what it spans, in radians, clockwise from the right. */
  middle: number;
  span: number;
  /** With the feet of the letters outwards. */
  isReversed?: boolean;
}

/** Letters at equal angles, their feet on the circle, or their heads with `isReversed`. */
function alongArc(
  text: string,
  { center: { x, y }, radius, size, font, middle, span, isReversed = false }: Arc,
): string {
  const letters = Array.from(text);
  const [foot, way] = isReversed ? [y + radius + 0.73 * size, -1] : [y - radius, 1];
  return letters
    .map((character, index) => {
      const angle = middle + way * ((index + 0.5) / letters.length - 0.5) * span;
      // Upright at the top, or at the bottom with reversed letters.
      const turn = degrees(angle) + 90 * way;
      const escaped = character.replace('&', '&amp;');
      return `<g transform="rotate(${turn},${x},${y})"><text x="${x}" y="${foot}" text-anchor="middle" font-family="${font}" font-weight="bold" font-size="${size}">${escaped}</text></g>`;
    })
    .join('');
}

interface Rubber {
  ground: number;
  /** Levels by which lettering is lighter, or its edges are if it is embossed. */
  relief: number;
  isEmbossed: boolean;
}

function randomRubber(random: Random): Rubber {
  return { ground: between(random, 28, 70), relief: between(random, 12, 50), isEmbossed: random() < 0.5 };
}

/** Raised: lit from above, with a shadow below. Embossed lettering has the colour of the rubber between them. */
function embossed(random: Random, svg: string, { ground, relief, isEmbossed }: Rubber): string {
  const shadow = `<g fill="${tint(random, ground * 0.45)}" transform="translate(3,4)">${svg}</g>`;
  const light = tint(random, ground + relief);
  if (!isEmbossed) return `${shadow}<g fill="${light}">${svg}</g>`;
  return `${shadow}<g fill="${light}" transform="translate(-2,-2.5)">${svg}</g><g fill="${tint(random, ground + 3)}">${svg}</g>`;
}

const WIDTH = 1500;

function planeOf(random: Random, svg: string, height: number): Plane {
  return { width: WIDTH, height, svg, vin: null, cells: [], reflection: between(random, 0, 0.3) };
}

const radians = (angle: number) => (angle * Math.PI) / 180;
const degrees = (angle: number) => (angle * 180) / Math.PI;
