/**
 * Draws the example pictures and fixture files of the families damage and parts, and prints the pixel coordinates for the
 * fixture results: `node scripts/draw-fixtures-damage-and-parts.ts`.
 */
import { mkdir } from 'node:fs/promises';
import sharp from 'sharp';

const WIDTH = 960;
const HEIGHT = 640;

type Point = [x: number, y: number];

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A car seen from its left, its front to the left, in units of about 2.4 mm: the outline of each part. */
const OUTLINES: Record<string, string> = {
  hood: 'M150 440 C160 425 180 405 200 397 C330 350 480 326 640 318 L652 330 C540 335 430 345 322 371 C280 382 240 396 205 411 C185 418 160 430 150 440',
  headlight: 'M138 458 C150 434 180 420 205 411 C240 396 280 382 322 371 L306 420 C260 446 190 466 134 476',
  front_bumper:
    'M134 476 C190 466 260 446 306 420 L302 514 C289 545 289 585 299 610 L160 616 C130 610 112 590 112 560 L118 505 C122 490 128 481 134 476',
  front_fender:
    'M322 371 C430 345 540 335 652 330 L664 400 C668 470 660 540 640 612 L590 612 C595 598 597 582 597 566 C597 482 529 414 445 414 C380 414 325 455 302 514 L306 420',
  front_door: 'M652 330 L1004 322 L1010 612 L640 612 C660 540 668 470 664 400',
  rear_door: 'M1004 322 L1352 322 C1372 380 1388 425 1404 486 C1378 520 1376 570 1388 612 L1010 612',
  rocker_panel: 'M590 612 L1388 612 L1382 640 C1100 650 800 650 596 640',
  quarter_panel:
    'M1352 322 C1420 320 1460 316 1490 308 C1480 270 1430 190 1375 140 L1400 128 C1500 170 1600 240 1668 318 C1730 322 1790 328 1850 342 C1838 370 1824 405 1812 442 L1672 504 C1648 450 1595 414 1533 414 C1478 414 1430 443 1404 486 C1388 425 1372 380 1352 322',
  fuel_door: 'M1696 350 L1762 350 L1766 410 L1696 410',
  front_door_handle: 'M925 368 L980 366 L984 378 L928 381',
  rear_door_handle: 'M1262 368 L1320 366 L1324 378 L1265 381',
  trunk_lid: 'M1668 318 C1740 308 1810 312 1872 328 L1878 350 L1850 342 C1790 328 1730 322 1668 318',
  taillight: 'M1850 342 L1878 350 C1886 380 1889 410 1886 436 L1812 442 C1824 405 1838 370 1850 342',
  rear_bumper:
    'M1672 504 L1812 442 L1886 436 C1900 470 1904 540 1892 590 C1880 615 1800 622 1678 614 C1690 580 1688 540 1672 504',
  front_window: 'M690 318 C760 250 830 170 900 150 L1000 144 L1004 316',
  rear_window:
    'M1012 316 L1008 144 C1150 136 1290 132 1366 144 C1420 190 1468 260 1482 306 C1440 316 1400 318 1352 316',
  roof: 'M640 318 C720 240 800 160 890 130 C1050 104 1280 108 1400 128 L1375 140 C1280 126 1060 128 890 146 C820 170 750 240 690 320 L652 330',
  front_wheel: circle(445, 566, 134),
  rear_wheel: circle(1533, 566, 134),
};

const WHEELS: Record<string, Point> = { front_wheel: [445, 566], rear_wheel: [1533, 566] };

/** The crops of the car that the pictures show. */
const FRONT: Box = { x: 60, y: 305, width: 675, height: 450 };
const HEADLIGHT: Box = { x: 96, y: 346, width: 240, height: 160 };
const REAR: Box = { x: 1255, y: 285, width: 690, height: 460 };

function circle(x: number, y: number, radius: number): string {
  const k = radius * 0.5523;
  const [left, right, top, bottom] = [x - radius, x + radius, y - radius, y + radius];
  return (
    `M${left} ${y} C${left} ${y - k} ${x - k} ${top} ${x} ${top} C${x + k} ${top} ${right} ${y - k} ${right} ${y} ` +
    `C${right} ${y + k} ${x + k} ${bottom} ${x} ${bottom} C${x - k} ${bottom} ${left} ${y + k} ${left} ${y}`
  );
}

/** The corners of an SVG path of M, L and C, with curves split into straight segments. */
function flatten(outline: string, pieces = 4): Point[] {
  const points: Point[] = [];
  for (const [, command, text = ''] of outline.matchAll(/([MLC])([^MLC]*)/g)) {
    const numbers = text.trim().split(/[ ,]+/).map(Number);
    const pairs = numbers.flatMap((x, i): Point[] => (i % 2 === 0 ? [[x, numbers[i + 1] ?? 0]] : []));
    const start = points.at(-1);
    const [a, b, end] = pairs;
    if (command !== 'C' || !start || !a || !b || !end) {
      points.push(...pairs);
      continue;
    }
    for (let i = 1; i <= pieces; i += 1) points.push(onCurve(start, a, b, end, i / pieces));
  }
  const [first, last] = [points[0], points.at(-1)];
  return first && last && first[0] === last[0] && first[1] === last[1] ? points.slice(1) : points;
}

function onCurve(p0: Point, p1: Point, p2: Point, p3: Point, t: number): Point {
  const s = 1 - t;
  const at = (axis: 0 | 1) =>
    s ** 3 * p0[axis] + 3 * s * s * t * p1[axis] + 3 * s * t * t * p2[axis] + t ** 3 * p3[axis];
  return [at(0), at(1)];
}

/** Converts car units to pixels of a crop, clipped at the edges of the picture. */
function onCrop(points: Point[], crop: Box): Point[] {
  const scale = WIDTH / crop.width;
  const moved = points.map(([x, y]): Point => [(x - crop.x) * scale, (y - crop.y) * scale]);
  const sides: [axis: 0 | 1, edge: number, sign: 1 | -1][] = [
    [0, 0, 1],
    [0, WIDTH, -1],
    [1, 0, 1],
    [1, HEIGHT, -1],
  ];
  return sides.reduce((cut, side) => cutAt(cut, ...side), moved).map(([x, y]): Point => [tenth(x), tenth(y)]);
}

/** Sutherland-Hodgman, one edge. */
function cutAt(points: Point[], axis: 0 | 1, edge: number, sign: 1 | -1): Point[] {
  return points.flatMap((point, i) => {
    const before = points.at(i - 1) ?? point;
    const [from, to] = [(before[axis] - edge) * sign, (point[axis] - edge) * sign];
    const t = from / (from - to);
    const crossing: Point = [before[0] + (point[0] - before[0]) * t, before[1] + (point[1] - before[1]) * t];
    return [...(from >= 0 !== to >= 0 ? [crossing] : []), ...(to >= 0 ? [point] : [])];
  });
}

const tenth = (value: number) => Math.round(value * 10) / 10;

function boxOf(points: Point[]): Box {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: tenth(Math.max(...xs) - x), height: tenth(Math.max(...ys) - y) };
}

/** Shoelace formula, as a share of the picture. */
function areaFraction(points: Point[]): number {
  const sum = points.reduce((total, [x, y], i) => {
    const [x0, y0] = points.at(i - 1) ?? [x, y];
    return total + x0 * y - x * y0;
  }, 0);
  return Math.round((Math.abs(sum) / 2 / WIDTH / HEIGHT) * 1e4) / 1e4;
}

/** The colour of a part: a gradient of `DEFINITIONS`, or a plain colour. */
function fillOf(part: string): string {
  if (part.endsWith('window')) return 'url(#glass)';
  if (part.endsWith('handle')) return '#3b5369';
  return (
    { rocker_panel: '#23272c', headlight: 'url(#lamp)', taillight: 'url(#red)', trunk_lid: '#93a9bd' }[part] ??
    'url(#paint)'
  );
}

const DEFINITIONS = `<defs>
  <linearGradient id="wall" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#dfe3e6"/><stop offset="1" stop-color="#f4f5f6"/></linearGradient>
  <linearGradient id="floor" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#b9bdc0"/><stop offset="1" stop-color="#8f9498"/></linearGradient>
  <linearGradient id="paint" gradientUnits="userSpaceOnUse" x1="0" y1="120" x2="0" y2="630">
    <stop offset="0" stop-color="#a9bccd"/><stop offset=".39" stop-color="#8ba3b9"/><stop offset=".47" stop-color="#c9d6e2"/>
    <stop offset=".56" stop-color="#5f7d9a"/><stop offset=".75" stop-color="#3f5d7c"/><stop offset=".86" stop-color="#4f6e8d"/>
    <stop offset="1" stop-color="#233749"/></linearGradient>
  <linearGradient id="glass" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#3b4a55"/><stop offset="1" stop-color="#182128"/></linearGradient>
  <linearGradient id="lamp" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="#f7fbff"/><stop offset=".6" stop-color="#b9c8d4"/><stop offset="1" stop-color="#7d909f"/></linearGradient>
  <linearGradient id="red" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#c8202b"/><stop offset="1" stop-color="#7c0d16"/></linearGradient>
  <radialGradient id="tire"><stop offset=".68" stop-color="#1a1c1e"/><stop offset=".84" stop-color="#303336"/><stop offset="1" stop-color="#131416"/></radialGradient>
  <radialGradient id="rim"><stop offset="0" stop-color="#eef1f3"/><stop offset="1" stop-color="#9aa2a8"/></radialGradient>
  <radialGradient id="shadow"><stop offset="0" stop-color="#000" stop-opacity=".55"/><stop offset="1" stop-color="#000" stop-opacity="0"/></radialGradient>
  <radialGradient id="dent"><stop offset="0" stop-color="#16273a" stop-opacity=".85"/><stop offset=".6" stop-color="#2d4862" stop-opacity=".5"/><stop offset="1" stop-color="#2d4862" stop-opacity="0"/></radialGradient>
  <radialGradient id="rubber" gradientUnits="userSpaceOnUse" cx="480" cy="980" r="900">
    <stop offset=".62" stop-color="#17181a"/><stop offset=".66" stop-color="#33373a"/><stop offset=".82" stop-color="#2b2e31"/><stop offset=".97" stop-color="#1c1e20"/><stop offset="1" stop-color="#0c0d0e"/></radialGradient>
  <linearGradient id="tread" x1="0" x2="1"><stop offset="0" stop-color="#0e0f10"/><stop offset=".2" stop-color="#2f3235"/><stop offset=".5" stop-color="#3d4145"/><stop offset=".8" stop-color="#2f3235"/><stop offset="1" stop-color="#0e0f10"/></linearGradient>
</defs>`;

/** A wheel of five double spokes in a tire, seen from its side. */
function wheel([x, y]: Point, radius: number): string {
  const spokes = Array.from({ length: 10 }, (_, i) => {
    const angle = Math.floor(i / 2) * 72 + (i % 2 === 0 ? -9 : 9) - 90;
    return `<rect x="${radius * 0.1}" y="${-radius * 0.045}" width="${radius * 0.58}" height="${radius * 0.09}" rx="3" fill="url(#rim)" transform="rotate(${angle})"/>`;
  });
  return `<g transform="translate(${x} ${y})"><circle r="${radius}" fill="url(#tire)"/>
    <circle r="${radius * 0.7}" fill="#24282b"/><circle r="${radius * 0.42}" fill="#5a6066"/>${spokes.join('')}
    <circle r="${radius * 0.68}" fill="none" stroke="url(#rim)" stroke-width="${radius * 0.06}"/>
    <circle r="${radius * 0.15}" fill="url(#rim)"/><circle r="${radius * 0.07}" fill="#3a4046"/></g>`;
}

function carSvg(crop: Box, damages = ''): string {
  const shapes = Object.entries(OUTLINES)
    .filter(([part]) => !WHEELS[part])
    .map(
      ([part, d]) =>
        `<path d="${d}Z" fill="${fillOf(part)}" stroke="#1b2731" stroke-width="2.2" stroke-linejoin="round"/>`,
    );
  return svg(
    `<rect y="-200" width="2000" height="880" fill="url(#wall)"/><rect y="640" width="2000" height="300" fill="url(#floor)"/>
    <ellipse cx="1000" cy="700" rx="990" ry="46" fill="url(#shadow)"/>
    <path d="M297 612 A156 156 0 1 1 593 612 L598 640 L560 640 L560 612Z M1385 612 A156 156 0 1 1 1681 612 L1420 612 L1420 640 L1382 640Z" fill="#0d1013"/>
    <path d="M652 330 L1004 322 L1354 324 L1494 312 L1375 136 L890 140 L690 318Z" fill="#11171c"/>${shapes.join('')}
    <path d="M612 440 C800 430 1200 428 1390 430 M1684 436 L1806 438" fill="none" stroke="#dfe8f0" stroke-opacity=".35" stroke-width="5"/>
    <ellipse cx="245" cy="424" rx="24" ry="17" fill="#fff" stroke="#6b7f8f" stroke-width="3"/>
    <path d="M128 556 L232 548 L240 580 L130 588Z" fill="#1c2227"/>
    ${Object.values(WHEELS)
      .map((center) => wheel(center, 134))
      .join('')}${damages}`,
    crop,
  );
}

function svg(content: string, { x, y, width, height }: Box = { x: 0, y: 0, width: WIDTH, height: HEIGHT }): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="${x} ${y} ${width} ${height}">${DEFINITIONS}${content}</svg>`;
}

/** Damages on the rear of the car: the drawing, and the shape that the outline follows. */
const DAMAGES: Record<string, { outline: string; drawing: string }> = {
  dent: {
    outline: 'M1556 352 C1590 340 1640 344 1654 366 C1664 388 1636 404 1602 404 C1566 404 1536 372 1556 352',
    drawing:
      '<ellipse cx="1602" cy="374" rx="52" ry="31" fill="url(#dent)" transform="rotate(8 1602 374)"/><path d="M1560 388 Q1602 414 1648 386" fill="none" stroke="#eaf2f9" stroke-width="4" stroke-opacity=".8"/><path d="M1566 362 Q1600 344 1642 364" fill="none" stroke="#0e1b28" stroke-width="3" stroke-opacity=".5"/>',
  },
  scuff: {
    outline: 'M1776 520 L1838 506 L1890 512 L1896 560 L1850 582 L1790 572',
    drawing: Array.from({ length: 26 }, (_, i) => {
      const [x, y] = [1786 + ((i * 37) % 78), 516 + ((i * 23) % 56)];
      return `<path d="M${x} ${y} l${18 + (i % 5) * 4} ${-3 - (i % 4)}" stroke="${i % 3 === 0 ? '#2a2e31' : '#d9dee2'}" stroke-width="${2 + (i % 3)}" stroke-linecap="round"/>`;
    }).join(''),
  },
  broken_light: {
    outline: 'M1842 376 L1884 372 L1888 408 L1862 424 L1836 408',
    drawing:
      '<path d="M1846 382 L1860 388 L1872 378 L1883 380 L1886 404 L1866 418 L1856 408 L1842 406Z" fill="#14090a"/><path d="M1846 382 L1836 370 M1866 418 L1862 438 M1842 406 L1826 412 M1872 378 L1876 362" stroke="#f2c9cb" stroke-width="2"/><circle cx="1866" cy="398" r="7" fill="#d8d2c4"/>',
  },
  scratch: {
    outline: 'M1270 478 L1330 462 L1394 452 L1396 464 L1334 476 L1274 492',
    drawing:
      '<path d="M1274 486 C1310 474 1350 464 1392 457 M1290 486 C1320 476 1350 470 1380 464 M1276 481 L1316 470" stroke="#f3f6f8" stroke-width="3" fill="none" stroke-linecap="round"/>',
  },
};

async function drawCars(): Promise<void> {
  const damages = Object.values(DAMAGES).map(({ drawing }) => drawing);
  const rear = carSvg(REAR, damages.join(''));
  await savePicture('damage.detect', rear);
  await savePicture('damage.severity', rear);
  const front = carSvg(FRONT);
  await savePicture('parts.segment', front);
  await savePicture('parts.decompose', front);
  await savePicture('parts.recognize', carSvg(HEADLIGHT));
  for (const [type, { outline }] of Object.entries(DAMAGES)) print('damage', type, onCrop(flatten(outline), REAR));
  for (const [name, crop] of Object.entries({ FRONT, HEADLIGHT, REAR })) {
    for (const [part, outline] of Object.entries(OUTLINES)) print(name, part, onCrop(flatten(outline), crop));
  }
  await drawMasks();
  await drawExplodedView(front);
}

/** The parts of the front, with the offset of each on the exploded view. */
const EXPLODED: Record<string, Point> = {
  front_bumper: [-70, 45],
  headlight: [-95, -20],
  hood: [15, -95],
  front_fender: [25, -10],
  front_wheel: [10, 110],
  front_door: [130, 5],
  rocker_panel: [120, 95],
};
const SEGMENTED = Object.keys(EXPLODED);

const path = (points: Point[]) => `M${points.join(' L')}Z`;

/** The pixels of each part have its position in the list, from 1, as their value. */
async function drawMask(file: string, parts: readonly Point[][][]): Promise<void> {
  const areas = parts.flatMap((outlines, i) =>
    outlines.map((points) => `<path d="${path(points)}" fill="rgb(${i + 1},${i + 1},${i + 1})"/>`),
  );
  const content = `<g shape-rendering="crispEdges"><rect width="${WIDTH}" height="${HEIGHT}"/>${areas.join('')}</g>`;
  await sharp(Buffer.from(svg(content)))
    .extractChannel('red')
    .png({ compressionLevel: 9 })
    .toFile(fixture('parts.segment', file));
}

/** The same parts behind a lamp post that hides everything between two columns. */
async function drawMasks(): Promise<void> {
  const outlines = SEGMENTED.map((part) => onCrop(flatten(OUTLINES[part] ?? ''), FRONT));
  await drawMask(
    'mask.png',
    outlines.map((points) => [points]),
  );
  const [left, right] = [604, 640];
  const parted = outlines.map((points) =>
    [cutAt(points, 0, left, -1), cutAt(points, 0, right, 1)]
      .filter((piece) => piece.length > 2)
      .map((piece) => piece.map(([x, y]): Point => [tenth(x), tenth(y)])),
  );
  await drawMask('mask-behind-post.png', parted);
  for (const [i, pieces] of parted.entries()) {
    for (const piece of pieces) print('BEHIND POST', SEGMENTED[i] ?? '', piece);
  }
}

/** The parts cut out of the picture, and moved apart on a larger one. */
async function drawExplodedView(front: string): Promise<void> {
  const picture = await sharp(Buffer.from(front)).png().toBuffer();
  const margin = 20;
  const places: { part: string; cutOut: Buffer; bbox: Box; layout: Box }[] = [];
  for (const [part, [dx, dy]] of Object.entries(EXPLODED)) {
    const points = onCrop(flatten(OUTLINES[part] ?? '', 16), FRONT);
    const exact = boxOf(points);
    const [left, top] = [Math.floor(exact.x), Math.floor(exact.y)];
    const [right, bottom] = [Math.ceil(exact.x + exact.width), Math.ceil(exact.y + exact.height)];
    const [width, height] = [Math.min(WIDTH, right) - left, Math.min(HEIGHT, bottom) - top];
    const cutOut = await sharp(picture)
      .composite([{ input: Buffer.from(svg(`<path d="${path(points)}" fill="#fff"/>`)), blend: 'dest-in' }])
      .png()
      .toBuffer()
      .then((whole) => sharp(whole).extract({ left, top, width, height }).png().toBuffer());
    await sharp(cutOut)
      .webp({ quality: 82 })
      .toFile(fixture('parts.decompose', `${part.replace('_', '-')}.webp`));
    const bbox = { x: left, y: top, width, height };
    places.push({ part, cutOut, bbox, layout: { x: left + dx, y: top + dy, width, height } });
  }
  const [x0, y0] = [
    Math.min(...places.map(({ layout }) => layout.x)),
    Math.min(...places.map(({ layout }) => layout.y)),
  ];
  for (const { layout } of places) {
    layout.x += margin - x0;
    layout.y += margin - y0;
  }
  const width = Math.max(...places.map(({ layout }) => layout.x + layout.width)) + margin;
  const height = Math.max(...places.map(({ layout }) => layout.y + layout.height)) + margin;
  await sharp({ create: { width, height, channels: 4, background: '#0000' } })
    .composite(places.map(({ cutOut, layout }) => ({ input: cutOut, left: layout.x, top: layout.y })))
    .webp({ quality: 82 })
    .toFile(fixture('parts.decompose', 'exploded-view.webp'));
  console.log(JSON.stringify({ explodedView: { width, height } }));
  for (const { part, layout, bbox } of places) console.log(JSON.stringify({ part, bbox, layout }));
}

const fixture = (endpoint: string, file: string) =>
  new URL(`../src/endpoints/${endpoint}/fixtures/${file}`, import.meta.url).pathname;

async function savePicture(endpoint: string, source: string): Promise<void> {
  await mkdir(fixture(endpoint, ''), { recursive: true });
  await sharp(Buffer.from(source))
    .flatten()
    .jpeg({ quality: 86, mozjpeg: true })
    .toFile(fixture(endpoint, 'example.jpg'));
}

function print(picture: string, name: string, points: Point[]): void {
  if (points.length < 3) return;
  const polygon = points.map(([x, y]) => ({ x, y }));
  console.log(JSON.stringify({ picture, name, bbox: boxOf(points), area_fraction: areaFraction(points), polygon }));
}

/** A line of embossed letters on a circle around (480, 980), centred at an angle from the top. */
interface Lettering {
  text: string;
  radius: number;
  degrees: number;
  size: number;
}

const SIDEWALL: Record<string, Lettering> = {
  brand: { text: 'NORDVIK', radius: 812, degrees: -20.5, size: 60 },
  size: { text: '205/55 R16 91V', radius: 816, degrees: 13.5, size: 48 },
  model: { text: 'QUADRA 4S', radius: 722, degrees: -16, size: 38 },
  dot: { text: 'DOT 7V4K HR2X 2319', radius: 650, degrees: -8, size: 36 },
  mud_and_snow: { text: 'M+S', radius: 722, degrees: 14, size: 38 },
};

const toRadians = (degrees: number) => (degrees * Math.PI) / 180;

function onCircle(radius: number, degrees: number): Point {
  return [tenth(480 + radius * Math.sin(toRadians(degrees))), tenth(980 - radius * Math.cos(toRadians(degrees)))];
}

const advance = (character: string, size: number) => size * (character === ' ' ? 0.5 : 0.76);

/** The angle of each letter in degrees, and the width of the line. */
function layLetters({ text, radius, degrees, size }: Lettering) {
  const toDegrees = (length: number) => (length / radius) * (180 / Math.PI);
  const width = toDegrees(text.split('').reduce((sum, character) => sum + advance(character, size), 0));
  let at = degrees - width / 2;
  const letters = text.split('').map((character) => {
    const step = toDegrees(advance(character, size));
    at += step;
    return { character, degrees: at - step / 2 };
  });
  return { letters, from: degrees - width / 2, to: degrees + width / 2 };
}

function letteringSvg(line: Lettering): string {
  const draw = (dx: number, dy: number, fill: string) =>
    layLetters(line).letters.map(({ character, degrees }) => {
      const [x, y] = onCircle(line.radius, degrees);
      return `<text x="${x + dx}" y="${y + dy}" transform="rotate(${degrees} ${x} ${y})" fill="${fill}">${character}</text>`;
    });
  const layers = [...draw(2.5, 3, '#0a0b0c'), ...draw(-1.5, -1.5, '#8d959b'), ...draw(0, 0, '#5d646a')];
  return `<g font-family="DejaVu Sans" font-weight="bold" font-size="${line.size}" text-anchor="middle">${layers.join('')}</g>`;
}

/** The band around a range of letters. */
function letteringOutline(line: Lettering, first = 0, end = line.text.length): Point[] {
  const { letters, from, to } = layLetters(line);
  const between = (i: number) => ((letters[i - 1]?.degrees ?? 0) + (letters[i]?.degrees ?? 0)) / 2;
  const [start, stop] = [first === 0 ? from : between(first), end === line.text.length ? to : between(end)];
  const steps = Array.from({ length: 5 }, (_, i) => start + ((stop - start) * i) / 4);
  const top = steps.map((degrees) => onCircle(line.radius + line.size * 0.76, degrees));
  return [...top, ...steps.toReversed().map((degrees) => onCircle(line.radius - line.size * 0.06, degrees))];
}

/** Three peaks with a snowflake: the mark of a tire fit for winter. */
const SNOWFLAKE_AT: Point = onCircle(735, 22);
const SNOWFLAKE = `<g transform="translate(${SNOWFLAKE_AT.join(' ')}) rotate(22)" fill="none" stroke-linecap="round" stroke-linejoin="round">
  ${['translate(2.5 3)" stroke="#0a0b0c', 'translate(0 0)" stroke="#7d858b']
    .map(
      (style) =>
        `<g transform="${style}" stroke-width="4"><path d="M-38 28 L-20 -10 L-10 6 L4 -26 L18 4 L24 -8 L40 28Z"/><path d="M3 -6 V22 M-9 1 L15 15 M15 1 L-9 15" stroke-width="3"/></g>`,
    )
    .join('')}</g>`;

async function drawSidewall(): Promise<void> {
  const rings = [884, 792, 700, 628].map(
    (radius) =>
      `<circle cx="480" cy="980" r="${radius}" fill="none" stroke="#000" stroke-opacity=".45" stroke-width="3"/>`,
  );
  const ribs = Array.from({ length: 96 }, (_, i) => {
    const [from, to] = [onCircle(886, i - 48), onCircle(900, i - 47.6)];
    return `<path d="M${from.join(' ')} L${to.join(' ')}" stroke="#000" stroke-opacity=".6" stroke-width="5"/>`;
  });
  const lines = Object.values(SIDEWALL).map(letteringSvg);
  await savePicture(
    'tire.read',
    svg(`<rect width="960" height="640" fill="#3d5163"/><rect width="960" height="70" fill="#2c3c4b"/>
      <circle cx="480" cy="980" r="936" fill="#0a0c0e"/><circle cx="480" cy="980" r="900" fill="url(#rubber)"/>${ribs.join('')}${rings.join('')}
      <circle cx="480" cy="980" r="560" fill="#aab2b8"/><circle cx="480" cy="980" r="546" fill="#d5dade"/><circle cx="480" cy="980" r="528" fill="#2a2f33"/>
      <path d="M430 460 L452 640 H508 L530 460Z M120 590 L190 640 H330 L200 540Z M840 590 L770 640 H630 L760 540Z" fill="url(#rim)"/>${lines.join('')}${SNOWFLAKE}`),
  );
  for (const [name, line] of Object.entries(SIDEWALL)) print('sidewall', name, letteringOutline(line));
  const size = SIDEWALL.size as Lettering;
  for (const text of ['205/55 R16', '91', 'V']) {
    const first = size.text.indexOf(text);
    print('sidewall', text, letteringOutline(size, first, first + text.length));
  }
  const [x, y] = SNOWFLAKE_AT;
  print('sidewall', 'three_peak_mountain_snowflake', [
    [tenth(x - 48), tenth(y - 42)],
    [tenth(x + 46), tenth(y - 42)],
    [tenth(x + 46), tenth(y + 48)],
    [tenth(x - 48), tenth(y + 48)],
  ]);
}

/** A wheel seen from its side, its rim scraped and its sidewall cut, and a tire seen on its tread. */
async function drawWheelSet(): Promise<void> {
  const blocks = Array.from({ length: 5 }, (_, column) =>
    Array.from({ length: 12 }, (_, row) => {
      const [x, y] = [628 + column * 44, 96 + row * 40 + (column % 2) * 12];
      return `<path d="M${x} ${y} l34 ${column < 2 ? 8 : column > 2 ? -8 : 0} v30 l-34 ${column < 2 ? -8 : column > 2 ? 8 : 0}Z" fill="#4a4f54"/>`;
    }).join(''),
  );
  const scrapes = Array.from({ length: 14 }, (_, i) => {
    const angle = toRadians(18 + i * 2.6);
    const at = (radius: number) => `${tenth(290 + radius * Math.cos(angle))} ${tenth(350 + radius * Math.sin(angle))}`;
    return `<path d="M${at(151 + (i % 3) * 3)} L${at(163)}" stroke="${i % 2 ? '#fff' : '#4b4f53'}" stroke-width="4"/>`;
  });
  await savePicture(
    'tire.detect',
    svg(`<rect width="960" height="640" fill="url(#wall)"/><rect y="500" width="960" height="140" fill="url(#floor)"/>
      <ellipse cx="300" cy="580" rx="270" ry="34" fill="url(#shadow)"/><ellipse cx="735" cy="580" rx="180" ry="30" fill="url(#shadow)"/>
      ${wheel([290, 350], 230)}${scrapes.join('')}
      <path d="M128 268 q12 -10 18 -26 q8 10 2 22 q-6 12 -20 4Z" fill="#000" stroke="#6b4a3a" stroke-width="3"/>
      <clipPath id="tireFront"><rect x="610" y="80" width="250" height="500" rx="62"/></clipPath>
      <g clip-path="url(#tireFront)"><rect x="610" y="80" width="250" height="500" fill="#0b0c0d"/>${blocks.join('')}
      <rect x="610" y="80" width="250" height="500" fill="url(#tread)" opacity=".45"/></g>`),
  );
}

await drawCars();
await drawSidewall();
await drawWheelSet();
