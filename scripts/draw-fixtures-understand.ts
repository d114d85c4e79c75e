/**
 * Draws the example pictures of the family `understand` and prints the pixel coordinates of each named element for
 * `fixtures/default.json`: `node scripts/draw-fixtures-understand.ts [slug]`.
 */
import { mkdir } from 'node:fs/promises';
import sharp from 'sharp';

/** A named layer is measured: its box, and its outline on request. */
type Thing = string | { name: string; svg: string; outlined?: true };

interface Drawing {
  slug: string;
  file: string;
  width: number;
  height: number;
  /** From back to front. */
  things: Thing[];
  /** The file of a mask, and the layer that is white on it. */
  matte?: { file: string; of: string };
}

const SANS = 'DejaVu Sans';
const MONO = 'DejaVu Sans Mono';

const named = (name: string, svg: string): Thing => ({ name, svg });
const rectangle = (x: number, y: number, width: number, height: number, fill: string, radius = 0, more = '') =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}" ${more}/>`;
const circle = (x: number, y: number, radius: number, fill: string, more = '') =>
  `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}" ${more}/>`;
const path = (d: string, fill: string, more = '') => `<path d="${d}" fill="${fill}" ${more}/>`;
const placed = (svg: string, x: number, y: number, scale = 1) =>
  `<g transform="translate(${x} ${y}) scale(${scale})">${svg}</g>`;

function text(x: number, baseline: number, size: number, content: string, fill = '#1d232b', font = SANS, more = '') {
  return `<text x="${x}" y="${baseline}" font-family="${font}" font-size="${size}" fill="${fill}" ${more}>${content}</text>`;
}

const GRADIENTS = `<defs>
  <linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#a9c8e6"/><stop offset="1" stop-color="#e8f0f6"/></linearGradient>
  <linearGradient id="road" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#8d9298"/><stop offset="1" stop-color="#5c6167"/></linearGradient>
  <linearGradient id="glass" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#5f7d93"/><stop offset="1" stop-color="#1d2a35"/></linearGradient>
  <linearGradient id="shade" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#ffffff" stop-opacity="0.4"/><stop offset="0.45" stop-color="#ffffff" stop-opacity="0"/><stop offset="1" stop-color="#000000" stop-opacity="0.45"/></linearGradient>
  <linearGradient id="steel" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="#e3e6e8"/><stop offset="0.5" stop-color="#aeb4b9"/><stop offset="1" stop-color="#d5d9dc"/></linearGradient>
  <linearGradient id="dark" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#3a4047"/><stop offset="1" stop-color="#15181b"/></linearGradient>
</defs>`;

function street(width: number, height: number): string {
  const horizon = height * 0.6;
  const houses = [0, 0.17, 0.38, 0.55, 0.78].map((at, index) =>
    rectangle(at * width, horizon - 120 - 34 * (index % 3), width * 0.16, 160 + 34 * (index % 3), '#c3c9cd'),
  );
  return (
    rectangle(0, 0, width, height, 'url(#sky)') +
    houses.join('') +
    rectangle(0, horizon, width, height - horizon, 'url(#road)') +
    rectangle(0, horizon, width, 14, '#b9bdc0')
  );
}

/** The right side of a car, 790 × 262 units, with the front on the right. */
function carFromTheRight(paint: string): string {
  const body =
    'M14 196 C8 160 22 138 92 128 L176 116 C236 66 296 42 398 42 C500 42 540 66 602 116 ' +
    'L700 128 C762 138 786 158 788 192 L780 214 L20 214 Z';
  const wheel = (x: number) =>
    circle(x, 208, 54, '#16181a') +
    circle(x, 208, 37, 'url(#steel)') +
    circle(x, 208, 12, '#33383d') +
    [0, 72, 144, 216, 288]
      .map((turn) => `<g transform="rotate(${turn} ${x} 208)">${rectangle(x - 4, 176, 8, 30, '#4a5056', 3)}</g>`)
      .join('');
  return (
    path(body, paint) +
    path(body, 'url(#shade)') +
    path('M206 116 C250 76 306 58 388 58 L388 116 Z', 'url(#glass)') +
    path('M404 58 C476 58 514 74 566 116 L404 116 Z', 'url(#glass)') +
    path('M396 58 L396 206 M196 122 L206 206 M574 122 L562 206', 'none', 'stroke="#00000055" stroke-width="2.5"') +
    rectangle(330, 134, 40, 9, '#00000066', 4) +
    rectangle(508, 134, 40, 9, '#00000066', 4) +
    path('M556 100 h22 c8 0 8 20 0 20 h-22 Z', paint, 'stroke="#00000066"') +
    path('M738 140 C762 146 778 154 782 168 L744 160 Z', '#fdf6d8', 'stroke="#555"') +
    path('M20 148 L58 138 L54 162 L17 168 Z', '#b3202c') +
    circle(165, 208, 62, '#0b0c0d') +
    circle(640, 208, 62, '#0b0c0d') +
    wheel(165) +
    wheel(640)
  );
}

/** Seen from behind, 600 × 440 units. */
function carFromBehind(paint: string): string {
  const body =
    'M60 200 C70 120 120 40 150 26 C230 10 370 10 450 26 C480 40 530 120 540 200 ' +
    'C572 226 574 260 570 340 L556 372 L44 372 L30 340 C26 260 28 226 60 200 Z';
  return (
    rectangle(52, 330, 86, 100, '#131517', 18) +
    rectangle(462, 330, 86, 100, '#131517', 18) +
    path(body, paint) +
    path(body, 'url(#shade)') +
    path('M112 172 C124 108 150 58 168 52 C240 40 360 40 432 52 C450 58 476 108 488 172 Z', 'url(#glass)') +
    path('M40 222 C80 212 130 214 168 222 L160 262 L38 270 Z', '#b81f2b', 'stroke="#5c0d14" stroke-width="3"') +
    path('M560 222 C520 212 470 214 432 222 L440 262 L562 270 Z', '#b81f2b', 'stroke="#5c0d14" stroke-width="3"') +
    rectangle(194, 244, 212, 58, '#00000033', 6) +
    rectangle(60, 318, 480, 44, '#00000044', 14) +
    rectangle(112, 352, 70, 14, '#3b4045', 7) +
    rectangle(418, 352, 70, 14, '#3b4045', 7)
  );
}

const ground = (x: number, y: number, rx: number) =>
  `<ellipse cx="${x}" cy="${y}" rx="${rx}" ry="15" fill="#00000055"/>`;

const pose: Drawing = {
  slug: 'vehicle.pose',
  file: 'example.jpg',
  width: 960,
  height: 640,
  things: [street(960, 640), ground(480, 498, 400), named('vehicle', placed(carFromTheRight('#27598f'), 86, 236))],
};

const segment: Drawing = {
  slug: 'vehicle.segment',
  file: 'example.jpg',
  width: 960,
  height: 640,
  things: [
    street(960, 640),
    ground(900, 420, 180),
    { name: 'neighbour', svg: placed(carFromTheRight('#d8d9d4'), 708, 268, 0.58), outlined: true },
    ground(410, 546, 370),
    { name: 'main', svg: placed(carFromTheRight('#a3262b'), 40, 306, 0.92), outlined: true },
  ],
  matte: { file: 'matte.png', of: 'main' },
};

const identify: Drawing = {
  slug: 'vehicle.identify',
  file: 'example.jpg',
  width: 960,
  height: 640,
  things: [
    street(960, 640),
    ground(480, 590, 330),
    named('vehicle', placed(carFromBehind('#2f6b4f'), 120, 82, 1.2)),
    named('make', text(398, 362, 31, 'TALVERA', '#e6ebee', SANS, 'font-weight="bold" letter-spacing="3"')),
    named('model', text(612, 330, 22, 'Lumo 2.0', '#e6ebee', SANS, 'font-style="italic"')),
    rectangle(378, 380, 204, 56, '#f3f3ee', 5, 'stroke="#222" stroke-width="2"'),
  ],
};

/** A fictitious VIN with a valid check digit (the ninth character). */
const VIN = '7ZZBX2C45N1048215';

const vin: Drawing = {
  slug: 'vin.read',
  file: 'example.jpg',
  width: 960,
  height: 640,
  things: [
    rectangle(0, 0, 960, 640, '#26292d'),
    path('M0 0 H960 V250 C640 210 320 214 0 268 Z', 'url(#glass)'),
    path('M0 268 C320 214 640 210 960 250 V320 C640 284 320 288 0 340 Z', '#101214'),
    path('M0 352 C320 300 640 296 960 332 V640 H0 Z', 'url(#dark)'),
    rectangle(120, 396, 720, 124, '#0c0d0e', 10),
    named('plate', rectangle(140, 412, 680, 92, 'url(#steel)', 6)),
    circle(162, 458, 8, '#6b7075'),
    circle(798, 458, 8, '#6b7075'),
    ...Array.from(VIN, (character, place) =>
      named(`${place + 1} ${character}`, text(188 + place * 34.6, 476, 48, character, '#22262a', MONO)),
    ),
    path('M120 0 L420 0 L180 640 L-60 640 Z', '#ffffff', 'fill-opacity="0.05"'),
  ],
};

const PLATE_TURN = 'transform="rotate(-2.5 480 330)"';

const plate: Drawing = {
  slug: 'plate.read',
  file: 'example.jpg',
  width: 960,
  height: 640,
  things: [
    rectangle(0, 0, 960, 640, '#3a6186'),
    rectangle(0, 0, 960, 640, 'url(#shade)'),
    path('M0 120 C300 96 660 96 960 120', 'none', 'stroke="#00000066" stroke-width="5"'),
    path('M0 130 L190 118 L176 210 L0 226 Z', '#b81f2b', 'stroke="#5c0d14" stroke-width="4"'),
    path('M960 130 L770 118 L784 210 L960 226 Z', '#b81f2b', 'stroke="#5c0d14" stroke-width="4"'),
    path('M150 222 H810 L786 438 H174 Z', '#00000033'),
    path('M0 500 C300 476 660 476 960 500 V640 H0 Z', '#1c2024'),
    named('plate', `<g ${PLATE_TURN}>${rectangle(220, 272, 520, 116, '#f7f7f2', 9)}</g>`),
    `<g ${PLATE_TURN}>${rectangle(226, 278, 508, 104, 'none', 7, 'stroke="#15181b" stroke-width="3"')}${rectangle(229, 281, 44, 98, '#1c3f94', 4)}${text(239, 366, 32, 'D', '#ffffff', SANS, 'font-weight="bold"')}</g>`,
    ...Array.from('XXTE2026', (character, place) => {
      const x = 288 + place * 52 + (place > 1 ? 24 : 0);
      return named(
        `${place + 1} ${character}`,
        `<g ${PLATE_TURN}>${text(x, 357, 76, character, '#15181b', MONO, 'font-weight="bold"')}</g>`,
      );
    }),
  ],
};

/** Label as printed, name of the field, value as printed. */
const CERTIFICATE = [
  ['A', 'registration_number', 'XX-TE 2026'],
  ['B', 'first_registration_date', '14/03/2022'],
  ['C.1.1', 'holder_name', 'VALBRUN Elodie'],
  ['D.1', 'make', 'TALVERA'],
  ['D.3', 'model', 'LUMO'],
  ['E', 'vin', VIN],
  ['P.2', 'power', '110 kW'],
  ['S.1', 'seats', '5'],
] as const;

const certificate: Drawing = {
  slug: 'document.read',
  file: 'example.jpg',
  width: 960,
  height: 720,
  things: [
    rectangle(0, 0, 960, 720, '#5b4636'),
    rectangle(108, 44, 760, 640, '#00000055', 4),
    named('page', rectangle(100, 36, 760, 640, '#f2f1e4', 4)),
    rectangle(100, 36, 760, 92, '#cfdccb', 4),
    rectangle(124, 56, 54, 54, '#24459a', 5),
    named('country', text(140, 94, 30, 'D', '#ffffff', SANS, 'font-weight="bold"')),
    text(196, 92, 28, 'REGISTRATION CERTIFICATE', '#2c4634', SANS, 'font-weight="bold"'),
    text(742, 90, 20, 'SPECIMEN', '#7d2b2b'),
    ...CERTIFICATE.flatMap(([label, name, value], row): Thing[] => [
      rectangle(128, 190 + row * 58, 704, 1.5, '#b9bfa9'),
      text(134, 178 + row * 58, 19, label, '#5d6a60'),
      named(name, text(262, 180 + row * 58, 25, value, '#1d232b', MONO)),
    ]),
    text(134, 650, 17, 'Invented vehicle, invented holder. Not a document.', '#7b8478'),
  ],
};

const CARD = { x: 60, y: 50, width: 840, height: 530 };
const cardGround =
  rectangle(0, 0, 960, 640, '#77808a') + rectangle(CARD.x + 8, CARD.y + 10, CARD.width, CARD.height, '#00000044', 28);
const cardFace = (tint: string) => named('card', rectangle(CARD.x, CARD.y, CARD.width, CARD.height, tint, 28));
const specimen = text(490, 562, 50, 'SPECIMEN', '#b0303055', SANS, 'font-weight="bold" letter-spacing="10"');

/** Number as printed, name of the field, value as printed. */
const LICENSE_FRONT = [
  ['1.', 'family_name', 'VALBRUN'],
  ['2.', 'given_names', 'ELODIE JEANNE'],
  ['3.', 'birth_date', '07.09.1991'],
  ['4a.', 'issue_date', '21.05.2024'],
  ['4b.', 'expiry_date', '21.05.2039'],
  ['4c.', 'issuing_authority', 'PREFECTURE 00'],
  ['5.', 'number', '24AB35791'],
] as const;

const licenseFront: Drawing = {
  slug: 'driver_license.read',
  file: 'example.jpg',
  width: 960,
  height: 640,
  things: [
    cardGround,
    cardFace('#f3dfe3'),
    rectangle(84, 74, 84, 60, '#24459a', 6),
    named('country', text(100, 118, 36, 'FR', '#ffffff', SANS, 'font-weight="bold"')),
    text(196, 118, 32, 'DRIVING LICENCE', '#7a3b4a', SANS, 'font-weight="bold"'),
    named('portrait', rectangle(90, 168, 208, 268, '#c9d2d8', 8)),
    circle(194, 268, 52, '#8d7a6d') + path('M110 436 C114 356 150 332 194 332 C238 332 274 356 278 436 Z', '#4a5a6c'),
    named(
      'signature',
      path(
        'M100 508 C126 456 140 540 162 494 C176 466 190 538 214 492 C228 470 246 528 288 484',
        'none',
        'stroke="#26303a" stroke-width="4"',
      ),
    ),
    ...LICENSE_FRONT.flatMap(([label, name, value], row): Thing[] => [
      text(330, 190 + row * 50, 18, label, '#7a5560'),
      named(name, text(388, 192 + row * 50, 27, value, '#1d232b', MONO)),
    ]),
    text(330, 540, 18, '9.', '#7a5560'),
    named('categories', text(388, 542, 27, 'AM B', '#1d232b', MONO)),
    specimen,
  ],
};

/** Number and expiry date match the front; both check digits (positions 15 and 30) are valid. */
const MRZ = 'D1FRA24AB357918390521VALBRUN<3';

const licenseBack: Drawing = {
  slug: 'driver_license.read',
  file: 'example-back.jpg',
  width: 960,
  height: 640,
  things: [
    cardGround,
    cardFace('#eef0e6'),
    text(96, 112, 18, '9.', '#5d6a60') + text(300, 112, 18, '10.', '#5d6a60') + text(530, 112, 18, '11.', '#5d6a60'),
    ...['AM', 'A1', 'A', 'B', 'C', 'D'].map((code, row) => {
      const y = 156 + row * 46;
      return rectangle(90, y + 12, 660, 1.5, '#aab29c') + text(96, y, 24, code, '#39443c', MONO, 'font-weight="bold"');
    }),
    named('AM', text(300, 156, 24, '02.10.2005  21.05.2039', '#1d232b', MONO)),
    named('B', text(300, 294, 24, '18.06.2010  21.05.2039', '#1d232b', MONO)),
    specimen,
    rectangle(CARD.x, 440, CARD.width, 62, '#fbfbf7'),
    named(
      'mrz',
      text(84, 482, 38, MRZ.replaceAll('<', '&lt;'), '#15181b', MONO, 'textLength="792" lengthAdjust="spacing"'),
    ),
  ],
};

const engine: Drawing = {
  slug: 'engine.detect',
  file: 'example.jpg',
  width: 960,
  height: 640,
  things: [
    rectangle(0, 0, 960, 640, '#2e6a8c'),
    rectangle(0, 0, 960, 640, 'url(#shade)'),
    named('engine_bay', path('M90 120 C300 70 660 70 870 120 L910 560 C640 610 320 610 50 560 Z', '#17191b')),
    path('M110 140 C300 92 660 92 850 140 L884 540 C640 586 320 586 76 540 Z', '#26292c'),
    named('radiator', rectangle(250, 528, 460, 40, '#3f454a', 6)),
    ...Array.from({ length: 22 }, (_, index) => rectangle(262 + index * 20, 532, 4, 32, '#22262a')),
    named('engine_cover', rectangle(330, 220, 290, 230, 'url(#dark)', 26, 'stroke="#565d63" stroke-width="4"')),
    text(404, 306, 30, 'TALVERA', '#aeb6bc', SANS, 'font-weight="bold"'),
    path('M360 350 H590 M360 380 H590 M360 410 H590', 'none', 'stroke="#5b6268" stroke-width="6"'),
    named('oil_filler_cap', circle(566, 256, 27, '#e0b32c') + rectangle(546, 250, 40, 12, '#7d6113', 5)),
    named(
      'battery',
      rectangle(670, 330, 150, 120, '#111315', 8, 'stroke="#767d83" stroke-width="3"') +
        circle(704, 356, 11, '#c33030') +
        circle(786, 356, 11, '#6d7479') +
        rectangle(690, 386, 110, 44, '#d9dcdd', 3) +
        text(722, 417, 24, '12 V'),
    ),
    named(
      'air_filter_housing',
      rectangle(130, 300, 156, 150, '#34393e', 20, 'stroke="#666d73" stroke-width="4"') +
        path('M144 330 H272 M144 362 H272 M144 394 H272', 'none', 'stroke="#4a5157" stroke-width="7"'),
    ),
    path('M286 372 C310 372 312 330 334 330', 'none', 'stroke="#0b0c0d" stroke-width="24"'),
    named(
      'coolant_reservoir',
      rectangle(150, 180, 96, 78, '#e8d9d4', 18, 'stroke="#a8948c" stroke-width="3"') +
        rectangle(154, 222, 88, 32, '#d98a94', 14) +
        circle(198, 194, 19, '#1d3f73'),
    ),
    named('washer_fluid_reservoir', circle(796, 506, 29, '#2a62b0') + text(778, 517, 30, '≈', '#ffffff')),
    named(
      'brake_fluid_reservoir',
      rectangle(716, 168, 84, 62, '#efe6c8', 10, 'stroke="#b6a976" stroke-width="3"') + circle(758, 184, 20, '#17191b'),
    ),
    named(
      'fuse_box',
      rectangle(670, 252, 150, 60, '#202326', 8, 'stroke="#6b7278" stroke-width="3"') +
        text(708, 291, 22, 'FUSES', '#c4cace'),
    ),
  ],
};

const drawings = [pose, segment, identify, vin, plate, certificate, licenseFront, licenseBack, engine];

const [wanted] = process.argv.slice(2);
for (const drawing of drawings.filter(({ slug }) => wanted === undefined || slug === wanted)) await draw(drawing);

async function draw({ slug, file, width, height, things, matte }: Drawing): Promise<void> {
  const folder = new URL(`../src/endpoints/${slug}/fixtures/`, import.meta.url).pathname;
  await mkdir(folder, { recursive: true });
  const svg = (content: string) =>
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${GRADIENTS}${content}</svg>`,
    );
  const whole = things.map((thing) => (typeof thing === 'string' ? thing : thing.svg)).join('');
  await sharp(svg(whole)).flatten().jpeg({ quality: 84, mozjpeg: true }).toFile(`${folder}${file}`);

  console.log(`${slug}/${file} ${width} × ${height}`);
  for (const thing of things) {
    if (typeof thing === 'string') continue;
    const alpha = await sharp(svg(thing.svg)).extractChannel('alpha').raw().toBuffer();
    const shown = (x: number, y: number) => (alpha[y * width + x] ?? 0) > 127;
    console.log(`  ${thing.name}: ${JSON.stringify(boxOf(shown, width, height))}`);
    if (thing.outlined) console.log(`    ${JSON.stringify(outlineOf(shown, width, height))}`);
    if (matte?.of === thing.name) {
      await sharp(alpha, { raw: { width, height, channels: 1 } })
        .png({ compressionLevel: 9 })
        .toFile(`${folder}${matte.file}`);
    }
  }
}

type Shown = (x: number, y: number) => boolean;

function boxOf(shown: Shown, width: number, height: number) {
  const columns = Array.from({ length: width }, (_, x) => x).filter((x) => columnOf(shown, x, height) !== null);
  const rows = columns.flatMap((x) => columnOf(shown, x, height) ?? []);
  const x = columns[0] ?? 0;
  const y = Math.min(...rows);
  return { x, y, width: (columns.at(-1) ?? 0) + 1 - x, height: Math.max(...rows) - y };
}

/** The outline of a shape that every column crosses once: right along its upper edge, back along its lower edge. */
function outlineOf(shown: Shown, width: number, height: number) {
  const columns = Array.from({ length: width }, (_, x) => ({ x, span: columnOf(shown, x, height) })).filter(
    ({ span }) => span !== null,
  );
  const last = columns.length - 1;
  const step = last / 24;
  const picked = Array.from({ length: 25 }, (_, index) => columns[Math.round(index * step)]);
  const upper = picked.flatMap((column) => (column?.span ? [{ x: column.x, y: column.span[0] }] : []));
  const lower = picked.flatMap((column) => (column?.span ? [{ x: column.x, y: column.span[1] }] : []));
  return [...upper, ...lower.reverse()];
}

/** The first row of the shape, and the row after its last. */
function columnOf(shown: Shown, x: number, height: number): [number, number] | null {
  const rows = Array.from({ length: height }, (_, y) => y).filter((y) => shown(x, y));
  const first = rows[0];
  return first === undefined ? null : [first, (rows.at(-1) ?? first) + 1];
}
