/**
 * Draws the pictures and videos of the fixtures of the family `render`, and prints the coordinates for the fixtures, in
 * pixels or as fractions of the picture: `node scripts/draw-fixtures-render.ts [slug]`. The video needs `ffmpeg`.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { PAIRED_PARTS } from '../src/contracts/vocabulary/parts.ts';
import {
  type Camera,
  DAMAGES,
  draw,
  type Look,
  onSurface,
  plateCorners,
  project,
  type Shot,
  type Vector,
  visibility,
} from './ray-marched-car.ts';

type Place = readonly [x: number, y: number];

const SMALL = { width: 480, height: 320 };
const PLATE_SIZE = { width: 260, height: 56 };

const fixture = (slug: string, file: string) =>
  new URL(`../src/endpoints/${slug}/fixtures/${file}`, import.meta.url).pathname;
const tenth = (value: number) => Math.round(value * 10) / 10;
const thousandth = (value: number) => Math.round(value * 1000) / 1000;
const print = (facts: object) => console.log(JSON.stringify(facts));

const svg = ({ width, height }: { width: number; height: number }, content: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`);
const gradient = (id: string, ...stops: [at: number, color: string][]) =>
  `<linearGradient id="${id}" x1="0" y1="0" x2="0" y2="1">${stops
    .map(([at, color]) => `<stop offset="${at}" stop-color="${color}"/>`)
    .join('')}</linearGradient>`;
const shape = (points: readonly Place[], fill: string, more = '') =>
  `<polygon points="${points.map(([x, y]) => `${x},${y}`).join(' ')}" fill="${fill}" ${more}/>`;

/** A car park surrounded by houses, seen from the camera. */
function carPark(camera: Camera): Buffer {
  const at = (point: Vector): Place | null => {
    const { x, y, depth } = project(camera, point);
    return depth > 0.5 ? [tenth(x), tenth(y)] : null;
  };
  const area = (points: Vector[], fill: string, more = '') => {
    const seen = points.map(at).filter((place) => place !== null);
    return seen.length === points.length ? shape(seen, fill, more) : '';
  };
  const away = ((camera.azimuthDegrees + 180) * Math.PI) / 180;
  const [cos, sin] = [Math.cos(away), -Math.sin(away)];
  const far = (side: number): Vector => [500 * cos - side * sin, 500 * sin + side * cos, 0];
  const near = (side: number): Vector => [-5 * cos - side * sin, -5 * sin + side * cos, 0];
  const houses = Array.from({ length: 15 }, (_, index) => {
    const bearing = (index * 24 * Math.PI) / 180;
    const [x, y, half] = [34 * Math.cos(bearing), -34 * Math.sin(bearing), 4.4 + (index % 4)];
    const corner = (side: number, height: number): Vector => [
      x - side * Math.sin(bearing),
      y - side * Math.cos(bearing),
      height,
    ];
    const height = 5 + ((index * 7) % 5);
    const windows = [-0.6, -0.1, 0.4].map((from) =>
      area(
        [
          corner(from * half, height - 1.2),
          corner((from + 0.25) * half, height - 1.2),
          corner((from + 0.25) * half, height - 3),
          corner(from * half, height - 3),
        ],
        '#6f7c86',
      ),
    );
    const walls = ['#b9b1a4', '#a7a9a6', '#c3b8a8', '#989fa3'];
    const wall = [corner(-half, 0), corner(half, 0), corner(half, height), corner(-half, height)];
    return area(wall, walls[index % 4] ?? '') + windows.join('');
  });
  const lines = [-4.6, -1.75, 1.75, 4.6].map((y) =>
    area(
      [
        [-3, y - 0.06, 0],
        [3, y - 0.06, 0],
        [3, y + 0.06, 0],
        [-3, y + 0.06, 0],
      ],
      '#e3e4e1',
      'opacity=".8"',
    ),
  );
  return svg(
    camera,
    `<defs>${gradient('sky', [0, '#8fb4d6'], [0.5, '#dfe9f0'])}</defs><rect width="100%" height="100%" fill="url(#sky)"/>
    ${area([far(-900), far(900), near(60), near(-60)], '#83878a')}${houses.join('')}${lines.join('')}`,
  );
}

function studio(size: { width: number; height: number }): Buffer {
  return svg(
    size,
    `<defs>${gradient('studio', [0, '#eceeef'], [0.5, '#ffffff'], [0.62, '#f4f5f6'], [0.8, '#e2e4e6'], [1, '#f7f8f8'])}</defs>
    <rect width="100%" height="100%" fill="url(#studio)"/>`,
  );
}

const raw = ({ width, height }: Camera) => ({ raw: { width, height, channels: 4 as const } });

async function put(background: Buffer, camera: Camera, { car, shadow }: Shot): Promise<Buffer> {
  return sharp(background)
    .composite([
      { input: shadow, ...raw(camera) },
      { input: car, ...raw(camera) },
    ])
    .removeAlpha()
    .png()
    .toBuffer();
}

const photograph = (camera: Camera, look: Look) => put(carPark(camera), camera, draw(camera, look));

/** The box around all pixels of the car that are more than half opaque. */
function vehicleBox({ car }: Shot, { width, height }: Camera) {
  const [xs, ys]: [number[], number[]] = [[], []];
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    if ((car[pixel * 4 + 3] ?? 0) < 128) continue;
    xs.push(pixel % width);
    ys.push(Math.floor(pixel / width));
  }
  const low = (values: number[]) => values.reduce((a, b) => Math.min(a, b));
  const high = (values: number[]) => values.reduce((a, b) => Math.max(a, b));
  const [x, y] = [low(xs), low(ys)];
  return { x, y, width: high(xs) - x + 1, height: high(ys) - y + 1 };
}

type Format = 'jpg' | 'png' | 'webp';

async function save(picture: Buffer, slug: string, name: string, format: Format = 'jpg'): Promise<void> {
  const image = sharp(picture);
  if (format === 'jpg') image.jpeg({ quality: 84, mozjpeg: true });
  if (format === 'webp') image.webp({ quality: 80 });
  if (format === 'png') image.png({ palette: true, colours: 128, effort: 10 });
  await mkdir(fixture(slug, ''), { recursive: true });
  await image.toFile(fixture(slug, `${name}.${format}`));
}

async function saveInEveryFormat(picture: Buffer, slug: string, name: string): Promise<void> {
  for (const format of ['jpg', 'png', 'webp'] as const) await save(picture, slug, name, format);
}

/** The brightness of a plate with a text on it. */
async function plateText(text: string): Promise<NonNullable<Look['plate']>> {
  const { width, height } = PLATE_SIZE;
  const drawing = svg(
    PLATE_SIZE,
    `<rect width="100%" height="100%" fill="#e9e9e6"/><rect x="2" y="2" width="256" height="52" rx="5" fill="none" stroke="#222" stroke-width="2.5"/>
    <text x="130" y="43" font-family="DejaVu Sans" font-weight="bold" font-size="42" text-anchor="middle" textLength="222" lengthAdjust="spacingAndGlyphs" fill="#151515">${text}</text>`,
  );
  const pixels = await sharp(drawing).greyscale().raw().toBuffer();
  return (across, down) => {
    const [x, y] = [Math.min(width - 1, Math.floor(across * width)), Math.min(height - 1, Math.floor(down * height))];
    return ((pixels[y * width + x] ?? 0) / 255) ** 2.2;
  };
}

const PLATE = await plateText('VIS 2047');
const SHOT: Camera = { ...SMALL, azimuthDegrees: 318, elevationDegrees: 8, distance: 8.4 };

async function drawBackground(): Promise<void> {
  const shot = draw(SHOT, { plate: PLATE });
  const box = vehicleBox(shot, SHOT);
  await save(await put(carPark(SHOT), SHOT, shot), 'render.background', 'example');
  await saveInEveryFormat(await put(studio(SHOT), SHOT, shot), 'render.background', 'composite');
  const { x: left, y: top, width, height } = box;
  const cutOut = await sharp(shot.car, raw(SHOT)).extract({ left, top, width, height }).png().toBuffer();
  await save(cutOut, 'render.background', 'cut-out', 'png');
  print({ slug: 'render.background', vehicle: box });
}

/** A dark, yellowish, noisy and slightly soft picture, for an enhancer to improve. */
async function spoil(picture: Buffer): Promise<Buffer> {
  const { data, info } = await sharp(picture).blur(0.6).raw().toBuffer({ resolveWithObject: true });
  const cast = [0.56, 0.47, 0.31];
  let seed = 7;
  for (let index = 0; index < data.length; index += 1) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    data[index] = Math.max(
      0,
      Math.min(255, (data[index] ?? 0) * (cast[index % 3] ?? 1) + (seed / 2147483648 - 0.5) * 34),
    );
  }
  return sharp(data, { raw: info }).png().toBuffer();
}

async function drawEnhance(): Promise<void> {
  for (const factor of [1, 2, 4]) {
    const camera = { ...SHOT, width: 192 * factor, height: 128 * factor, azimuthDegrees: 42 };
    const picture = await photograph(camera, { plate: PLATE });
    if (factor === 1) await save(await spoil(picture), 'render.enhance', 'example');
    await saveInEveryFormat(picture, 'render.enhance', `enhanced-${factor}x`);
  }
}

async function drawPlate(): Promise<void> {
  const camera: Camera = { ...SMALL, azimuthDegrees: 346, elevationDegrees: 8, distance: 6.6 };
  const picture = await photograph(camera, { plate: PLATE });
  const quad = plateCorners('front').map((corner): Place => {
    const { x, y } = project(camera, corner);
    return [tenth(x), tenth(y)];
  });
  const mask = svg(camera, shape(quad, '#fff', 'stroke="#fff" stroke-width="3"'));
  const blurred = await sharp(await sharp(picture).blur(7).ensureAlpha().toBuffer())
    .composite([{ input: mask, blend: 'dest-in' }])
    .png()
    .toBuffer();
  const over = (layer: Buffer) =>
    sharp(picture)
      .composite([{ input: layer }])
      .png()
      .toBuffer();
  await save(picture, 'render.plate', 'example');
  await save(await over(blurred), 'render.plate', 'blurred');
  await save(await over(svg(camera, shape(quad, '#26292c'))), 'render.plate', 'masked');
  await save(await photograph(camera, { plate: await plateText('') }), 'render.plate', 'replaced');
  await save(await photograph({ ...SHOT, azimuthDegrees: 90 }, {}), 'render.plate', 'no-plate');
  const [xs, ys] = [quad.map(([x]) => x), quad.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  const bbox = { x, y, width: tenth(Math.max(...xs) - x), height: tenth(Math.max(...ys) - y) };
  print({ slug: 'render.plate', bbox, quad: quad.map(([left, top]) => ({ x: left, y: top })) });
}

/** Per frame: the camera position, the source picture and the corrections it needed. */
const SPIN = [
  { azimuthDegrees: 2, image: 1, roll: 1.4, exposure: -0.3, scale: 1.04 },
  { azimuthDegrees: 44, image: 2, roll: -0.8, exposure: 0.2, scale: 0.97 },
  { azimuthDegrees: 91, image: 4, roll: 0.5, exposure: -0.6, scale: 1 },
  { azimuthDegrees: 137, image: 3, roll: -2.1, exposure: 0.4, scale: 1.06 },
  { azimuthDegrees: 179, image: 5, roll: 0, exposure: 0.3, scale: 0.98 },
  { azimuthDegrees: 226, image: 6, roll: 1.1, exposure: 0, scale: 1.02 },
  { azimuthDegrees: 268, image: 7, roll: -0.6, exposure: -0.4, scale: 1 },
  { azimuthDegrees: 316, image: 0, roll: 1.9, exposure: 0.5, scale: 1.05 },
];
const SPIN_CAMERA = { ...SMALL, elevationDegrees: 9, distance: 9 };
const LEFT_OUT_OF_INCOMPLETE = [137, 179, 226];

async function drawSpin(): Promise<void> {
  const frames: { index: number; azimuth_degrees: number; vehicle: object }[] = [];
  for (const [index, { azimuthDegrees, image, roll, exposure, scale }] of SPIN.entries()) {
    const camera = { ...SPIN_CAMERA, azimuthDegrees };
    const shot = draw(camera, { damaged: true, plate: PLATE });
    const picture = await put(carPark(camera), camera, shot);
    await save(picture, 'render.360', `frame-${index}`);
    if (index === SPIN.length - 1) await save(picture, 'render.hotspots', 'example');
    const asTaken = await photograph(
      { ...camera, rollDegrees: roll, distance: camera.distance * scale },
      { damaged: true, plate: PLATE },
    );
    const exposed = await sharp(asTaken)
      .linear(2 ** (-exposure / 2.2))
      .png()
      .toBuffer();
    await save(exposed, 'render.360', image === 0 ? 'example' : `example-${image + 1}`);
    const box = vehicleBox(shot, camera);
    const share = {
      x_normalized: thousandth(box.x / camera.width),
      y_normalized: thousandth(box.y / camera.height),
      width_normalized: thousandth(box.width / camera.width),
      height_normalized: thousandth(box.height / camera.height),
    };
    frames.push({ index, azimuth_degrees: azimuthDegrees, vehicle: share });
    print({ slug: 'render.360', index, azimuthDegrees, image, roll, exposure, scale, box });
  }
  const some = frames.filter(({ azimuth_degrees }) => !LEFT_OUT_OF_INCOMPLETE.includes(azimuth_degrees));
  await writeManifest('complete.json', true, frames);
  await writeManifest(
    'incomplete.json',
    false,
    some.map((frame, index) => ({ ...frame, index })),
  );
}

async function writeManifest(file: string, is_complete: boolean, frames: object[]): Promise<void> {
  const manifest = { version: 1, direction: 'clockwise', is_complete, frame_size: SMALL, scene: null, frames };
  await mkdir(fixture('render.360', 'manifests'), { recursive: true });
  await writeFile(fixture('render.360', `manifests/${file}`), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Spots on the car, placed as accurately as by hand. */
const HOTSPOTS: Record<string, Vector> = {
  scratch: [0.2, DAMAGES.scratch.from[1], 0.648],
  dent: DAMAGES.dent.at,
  scuff: DAMAGES.scuff.at,
  headlight: [2.0, 0.72, 0.66],
  front_wheel: [1.34, 0.86, 0.33],
};
/** A spot on each part, for `shared/spin-set-positions.ts`. Parts of a pair are on the left; the right mirrors them. */
const PART_SPOTS: Record<string, Vector> = {
  front_bumper: [2.22, 0.3, 0.3],
  grille: [2.24, 0, 0.58],
  front_emblem: [2.2, 0, 0.7],
  front_plate: [2.222, 0, 0.43],
  hood: [1.5, 0.2, 0.9],
  windshield: [0.78, 0.1, 1.12],
  roof: [-0.4, 0.1, 1.5],
  rear_windshield: [-1.78, 0.1, 1.18],
  trunk_lid: [-2.12, 0.3, 0.85],
  rear_bumper: [-2.2, 0.3, 0.35],
  rear_emblem: [-2.12, 0, 0.85],
  rear_plate: [-2.192, 0, 0.62],
  exhaust: [-2.18, 0.4, 0.25],
  spoiler: [-1.62, 0, 1.34],
  fuel_door: [-1.6, -0.9, 0.8],
  antenna: [-1.1, 0, 1.47],
  headlight: [2, 0.72, 0.66],
  fog_light: [2.15, 0.6, 0.35],
  front_fender: [0.85, 0.91, 0.7],
  front_door: [0.25, 0.91, 0.6],
  rear_door: [-0.74, 0.91, 0.6],
  front_door_handle: [-0.12, 0.92, 0.86],
  rear_door_handle: [-1.06, 0.92, 0.88],
  front_window: [0.2, 0.7, 1.15],
  rear_window: [-0.8, 0.7, 1.18],
  mirror: [0.66, 1.05, 1.02],
  rocker_panel: [0, 0.91, 0.28],
  quarter_panel: [-1.75, 0.86, 0.8],
  taillight: [-2.08, 0.76, 0.82],
  a_pillar: [0.6, 0.62, 1.1],
  front_wheel: [1.34, 0.86, 0.33],
  rear_wheel: [-1.32, 0.86, 0.33],
};
/** Minimum prominence of a marked spot. */
const LEAST_VISIBILITY = 0.12;

function printHotspots(): void {
  for (const [name, point] of Object.entries(HOTSPOTS)) {
    print({ slug: 'render.hotspots', name, placements: placementsOf(point) });
  }
  for (const [name, [x, y, z]] of Object.entries(PART_SPOTS)) {
    const isPaired = (PAIRED_PARTS as readonly string[]).includes(name);
    const sides: [string, number][] = isPaired
      ? [
          ['left', y],
          ['right', -y],
        ]
      : [['none', y]];
    for (const [side, lateral] of sides) {
      const rows = placementsOf([x, lateral, z]).map((one) => `[${Object.values(one).join(', ')}]`);
      console.log(`  '${name} ${side}': [${rows.join(', ')}],`);
    }
  }
}

function placementsOf(point: Vector) {
  const spot = onSurface(point);
  return SPIN.flatMap(({ azimuthDegrees }, frame_index) => {
    const camera = { ...SPIN_CAMERA, azimuthDegrees };
    const seen = visibility(camera, spot);
    if (seen < LEAST_VISIBILITY) return [];
    const { x, y } = project(camera, spot);
    const place = { x_normalized: thousandth(x / camera.width), y_normalized: thousandth(y / camera.height) };
    return [{ frame_index, ...place, prominence: Math.round(seen * 100) / 100 }];
  });
}

const VIDEOS = { '16-9': [480, 270], '1-1': [320, 320], '9-16': [270, 480] } as const;

async function drawVideo(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'walk-around-'));
  const pictures: Buffer[] = [];
  for (const azimuthDegrees of [316, 91, 226]) {
    const camera = { ...SPIN_CAMERA, width: 480, height: 270, azimuthDegrees };
    const picture = await photograph(camera, { plate: PLATE });
    pictures.push(picture);
    await save(picture, 'render.video', pictures.length === 1 ? 'example' : `example-${pictures.length}`);
  }
  for (const [ratio, [width, height]] of Object.entries(VIDEOS)) {
    for (const [index, picture] of pictures.entries()) {
      const still = await sharp(await sharp(picture).resize(width, height, { fit: 'cover' }).blur(12).toBuffer())
        .composite([{ input: await sharp(picture).resize(width, height, { fit: 'inside' }).toBuffer() }])
        .png()
        .toBuffer();
      if (index === 0) await save(still, 'render.video', `poster-${ratio}`);
      // Four times as large, or the slow zoom would jerk from pixel to pixel.
      await sharp(still)
        .resize(width * 4)
        .png()
        .toFile(join(folder, `${ratio}-${index}.png`));
    }
    encode(folder, ratio, `${width}x${height}`);
  }
  await rm(folder, { recursive: true });
}

/** Two seconds per picture with cross-fades of half a second: five seconds in total. */
function encode(folder: string, ratio: string, size: string): void {
  const inputs = [0, 1, 2].flatMap((index) => ['-i', join(folder, `${ratio}-${index}.png`)]);
  const zoom = `zoompan=z='1+0.0012*on':x='(iw-iw/zoom)/2':y='(ih-ih/zoom)/2':d=60:fps=30:s=${size},format=yuv420p`;
  const filter =
    `[0]${zoom}[a];[1]${zoom}[b];[2]${zoom}[c];` +
    '[a][b]xfade=duration=0.5:offset=1.5[d];[d][c]xfade=duration=0.5:offset=3';
  const output = ['-c:v', 'libx264', '-crf', '33', '-preset', 'veryslow', '-movflags', '+faststart', '-bitexact'];
  const file = fixture('render.video', `walk-around-${ratio}.mp4`);
  const { status, stderr } = spawnSync('ffmpeg', ['-y', ...inputs, '-filter_complex', filter, ...output, file]);
  if (status !== 0) throw new Error(`ffmpeg failed: ${String(stderr)}`);
}

const DRAWINGS: Record<string, () => Promise<void> | void> = {
  'render.background': drawBackground,
  'render.enhance': drawEnhance,
  'render.plate': drawPlate,
  'render.360': drawSpin,
  'render.video': drawVideo,
  'render.hotspots': printHotspots,
};

const [requested] = process.argv.slice(2);
for (const [slug, drawFixtures] of Object.entries(DRAWINGS)) {
  if (requested === undefined || requested === slug) await drawFixtures();
}
