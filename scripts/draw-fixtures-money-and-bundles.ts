/**
 * Draws the pictures, the video and the reports of the fixtures of the family `money` and of the bundles, and prints the
 * pixel coordinates for the fixtures: `node scripts/draw-fixtures-money-and-bundles.ts [slug]`. The video needs `ffmpeg`;
 * the reports are generated from the results of the inspection.
 */
import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { writeInspectionReports } from './inspection-report.ts';
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

interface Point {
  x: number;
  y: number;
}

const SIZE = { width: 600, height: 400 };
const AROUND = { elevationDegrees: 9, distance: 8.8 };
/** The camera position of each compass view, clockwise from the front. */
const AZIMUTHS = {
  front: 2,
  front_right: 43,
  right: 91,
  rear_right: 138,
  rear: 179,
  rear_left: 223,
  left: 268,
  front_left: 318,
} as const;

const fixture = (slug: string, file: string) =>
  new URL(`../src/endpoints/${slug}/fixtures/${file}`, import.meta.url).pathname;
const tenth = (value: number) => Math.round(value * 10) / 10;
const print = (facts: object) => console.log(JSON.stringify(facts));
const svg = ({ width, height }: { width: number; height: number }, content: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`);

/** A hall with a tiled floor, seen from the camera. */
function hall(camera: Camera): Buffer {
  const azimuth = (camera.azimuthDegrees * Math.PI) / 180;
  const eyeHeight = 0.62 + camera.distance * Math.sin((camera.elevationDegrees * Math.PI) / 180);
  const horizon = project(camera, [-400 * Math.cos(azimuth), 400 * Math.sin(azimuth), eyeHeight]).y;
  const line = (from: Vector, to: Vector, color: string, width: number) => {
    const [a, b] = [project(camera, from), project(camera, to)];
    if (a.depth < 0.5 || b.depth < 0.5) return '';
    return `<path d="M${a.x} ${a.y} L${b.x} ${b.y}" stroke="${color}" stroke-width="${width}"/>`;
  };
  const steps = Array.from({ length: 49 }, (_, index) => index - 24);
  const tiles = steps.flatMap((i) =>
    steps.flatMap((j) => [
      line([i, j, 0], [i + 1, j, 0], '#8b9094', 0.8),
      line([i, j, 0], [i, j + 1, 0], '#8b9094', 0.8),
    ]),
  );
  const pillars = Array.from({ length: 24 }, (_, index) => {
    const bearing = (index * 15 * Math.PI) / 180;
    const [x, y] = [22 * Math.cos(bearing), 22 * Math.sin(bearing)];
    return line([x, y, 0], [x, y, 9], '#aab2b8', 5) + line([x, y, 0], [x, y, 1.1], '#d9a62a', 5);
  });
  return svg(
    camera,
    `<defs><linearGradient id="wall" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#cfd6da"/><stop offset="1" stop-color="#e8ebec"/></linearGradient>
    <linearGradient id="floor" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#b4b8ba"/><stop offset="1" stop-color="#9a9ea1"/></linearGradient></defs>
    <rect width="100%" height="${horizon}" fill="url(#wall)"/><rect y="${horizon}" width="100%" height="100%" fill="url(#floor)"/>
    ${tiles.join('')}${pillars.join('')}`,
  );
}

/** The brightness of a plate with a text on it. */
async function plateText(text: string): Promise<NonNullable<Look['plate']>> {
  const [width, height] = [260, 56];
  const drawing = svg(
    { width, height },
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

async function photograph(camera: Camera, look: Look): Promise<{ picture: Buffer; shot: Shot }> {
  const shot = draw(camera, { samples: 2, plate: PLATE, ...look });
  const raw = { raw: { width: camera.width, height: camera.height, channels: 4 as const } };
  const layers = [shot.shadow, shot.car].map((input) => ({ input, ...raw }));
  return { picture: await sharp(hall(camera)).composite(layers).removeAlpha().png().toBuffer(), shot };
}

async function savePicture(picture: Buffer, slug: string, file: string): Promise<void> {
  await mkdir(fixture(slug, ''), { recursive: true });
  await sharp(picture).jpeg({ quality: 84, mozjpeg: true }).toFile(fixture(slug, file));
}

/** Draws the car from one side, saves the picture and prints the coordinates. */
async function shoot(slug: string, file: string, view: keyof typeof AZIMUTHS, more: Partial<Camera> & Look = {}) {
  const camera: Camera = { ...SIZE, ...AROUND, azimuthDegrees: AZIMUTHS[view], ...more };
  const { picture, shot } = await photograph(camera, { damaged: more.damaged ?? true });
  await savePicture(picture, slug, file);
  print({ slug, file, view, vehicle: vehicleBox(shot, camera), ...placesOn(camera) });
  return { shot, camera };
}

/** An outline around a point of the surface, on its tangent plane. */
function ring(center: Vector, radius: number, outward: Vector): Vector[] {
  const length = Math.hypot(outward[0], outward[1]);
  const along: Vector = [-outward[1] / length, outward[0] / length, 0];
  return Array.from({ length: 10 }, (_, index) => {
    const angle = (index / 10) * 2 * Math.PI;
    const [across, up] = [radius * Math.cos(angle), radius * Math.sin(angle)];
    return onSurface([center[0] + along[0] * across, center[1] + along[1] * across, center[2] + up]);
  });
}

const { scratch, dent, scuff } = DAMAGES;
const between = (t: number, dz: number): Vector =>
  onSurface([
    scratch.from[0] + (scratch.to[0] - scratch.from[0]) * t,
    scratch.from[1],
    scratch.from[2] + (scratch.to[2] - scratch.from[2]) * t + dz,
  ]);
const OUTLINES: Record<string, { middle: Vector; outline: Vector[] }> = {
  scratch: {
    middle: between(0.5, 0),
    outline: [...[0, 0.5, 1].map((t) => between(t, 0.04)), ...[1, 0.5, 0].map((t) => between(t, -0.03))],
  },
  dent: { middle: onSurface(dent.at), outline: ring(dent.at, dent.radius, [0, 1, 0]) },
  scuff: { middle: onSurface(scuff.at), outline: ring(scuff.at, scuff.radius, [-1, -0.8, 0]) },
};

/** Minimum prominence of something that can be detected. */
const LEAST_VISIBILITY = 0.2;

function placesOn(camera: Camera) {
  const at = (point: Vector): Point => {
    const { x, y } = project(camera, point);
    return { x: tenth(x), y: tenth(y) };
  };
  const damages = Object.entries(OUTLINES).flatMap(([name, { middle, outline }]) => {
    if (visibility(camera, middle) < LEAST_VISIBILITY) return [];
    const polygon = outline.map(at);
    return [{ name, bbox: boxOf(polygon), polygon }];
  });
  const end = Math.abs(camera.azimuthDegrees - 180) > 90 ? 'front' : 'rear';
  const corners = plateCorners(end);
  const [first, , third] = corners;
  const isSeen = first && third && visibility(camera, midpoint(first, third)) > LEAST_VISIBILITY;
  const quad = isSeen ? corners.map(at) : null;
  return { damages, plate: quad && { bbox: boxOf(quad), quad }, tires: tiresOn(camera, at) };
}

/** The tires with a visible outer side. */
function tiresOn(camera: Camera, at: (point: Vector) => Point) {
  const [height, radius] = [0.33, 0.33];
  return [1.34, -1.32].flatMap((x) =>
    [0.85, -0.85].flatMap((y) => {
      if (visibility(camera, [x, y, height + 0.28]) < LEAST_VISIBILITY) return [];
      const outline = Array.from({ length: 24 }, (_, index): Vector => {
        const angle = (index / 24) * 2 * Math.PI;
        return [x + radius * Math.cos(angle), y, height + radius * Math.sin(angle)];
      });
      return [{ position: `${x > 0 ? 'front' : 'rear'}_${y > 0 ? 'left' : 'right'}`, bbox: boxOf(outline.map(at)) }];
    }),
  );
}

const midpoint = (a: Vector, b: Vector): Vector => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2];

function boxOf(points: readonly Point[]) {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: tenth(Math.max(...xs) - x), height: tenth(Math.max(...ys) - y) };
}

/** The box around all pixels of the car that are more than half opaque. */
function vehicleBox({ car }: Shot, { width, height }: Camera) {
  const shown = Array.from({ length: width * height }, (_, pixel) => pixel).filter(
    (pixel) => (car[pixel * 4 + 3] ?? 0) > 127,
  );
  const columns = shown.map((pixel) => pixel % width);
  const [x, right] = columns.reduce(([low, high], at) => [Math.min(low, at), Math.max(high, at)], [width, 0]);
  const [y, bottom] = [Math.floor((shown[0] ?? 0) / width), Math.floor((shown.at(-1) ?? 0) / width)];
  return { x, y, width: right - x + 1, height: bottom - y + 1 };
}

/** White where the car is; and its outline: along the upper edge to the right, back along the lower one. */
async function drawMatte(slug: string, { car }: Shot, { width, height }: Camera): Promise<void> {
  const alpha = Buffer.from(Array.from({ length: width * height }, (_, pixel) => car[pixel * 4 + 3] ?? 0));
  const matte = sharp(alpha, { raw: { width, height, channels: 1 } });
  await matte.png({ compressionLevel: 9 }).toFile(fixture(slug, 'matte.png'));
  const columns = Array.from({ length: width }, (_, x) => {
    const rows = Array.from({ length: height }, (_, y) => y).filter((y) => (alpha[y * width + x] ?? 0) > 127);
    return { x, top: rows[0], bottom: rows.at(-1) };
  }).filter(({ top }) => top !== undefined);
  const last = columns.length - 1;
  const picked = Array.from({ length: 19 }, (_, index) => columns[Math.round((index * last) / 18)]);
  const upper = picked.map((column) => ({ x: column?.x, y: column?.top }));
  const lower = picked.map((column) => ({ x: column?.x, y: (column?.bottom ?? 0) + 1 }));
  const area = alpha.reduce((sum, value) => sum + value, 0) / 255 / alpha.length;
  print({ slug, area_fraction: Math.round(area * 1e4) / 1e4, polygon: [...upper, ...lower.reverse()] });
}

const CORNERS = ['front_left', 'rear_left', 'rear_right', 'front_right'] as const;

async function drawInspection(): Promise<void> {
  for (const [index, view] of CORNERS.entries()) {
    await shoot('inspections', index === 0 ? 'example.jpg' : `example-${index + 1}.jpg`, view);
  }
  await writeInspectionReports(fixture('inspections', ''));
}

const FRAME = { width: 480, height: 270, distance: 8.2 };
const TURN_SECONDS = 8;
const FRAMES_PER_SECOND = 6;
/** The walk starts in front of the car and goes clockwise. */
const START_AZIMUTH = 2;

async function drawVideo(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'walk-around-'));
  const count = TURN_SECONDS * FRAMES_PER_SECOND;
  for (let index = 0; index < count; index += 1) {
    const azimuthDegrees = (START_AZIMUTH + (index * 360) / count) % 360;
    const camera = { ...AROUND, ...FRAME, azimuthDegrees };
    const { picture } = await photograph(camera, { damaged: true });
    await sharp(picture).toFile(join(folder, `${String(index).padStart(3, '0')}.png`));
  }
  const rate = String(FRAMES_PER_SECOND);
  const output = ['-c:v', 'libx264', '-crf', '37', '-preset', 'veryslow', '-pix_fmt', 'yuv420p', '-bitexact'];
  const file = fixture('video.onboard', 'example.mp4');
  const input = ['-framerate', rate, '-i', join(folder, '%03d.png')];
  const { status, stderr } = spawnSync('ffmpeg', ['-y', ...input, ...output, '-movflags', '+faststart', file]);
  await rm(folder, { recursive: true });
  if (status !== 0) throw new Error(`ffmpeg failed: ${String(stderr)}`);
}

async function drawKeyFrames(): Promise<void> {
  for (const view of Object.keys(AZIMUTHS) as (keyof typeof AZIMUTHS)[]) {
    await shoot('video.onboard', `frame-${view.replace('_', '-')}.jpg`, view, FRAME);
  }
}

const DRAWINGS: Record<string, () => Promise<unknown>> = {
  'pricing.vehicle': () => shoot('pricing.vehicle', 'example.jpg', 'front_right', { damaged: false }),
  'pricing.repair': async () => {
    await shoot('pricing.repair', 'example.jpg', 'left', { distance: 9.4 });
    await shoot('pricing.repair', 'example-2.jpg', 'rear_right', { distance: 7.6 });
  },
  'vehicle.analyze': async () => {
    const { shot, camera } = await shoot('vehicle.analyze', 'example.jpg', 'front_left');
    await drawMatte('vehicle.analyze', shot, camera);
    await copyFile(fixture('vin.read', 'example.jpg'), fixture('vehicle.analyze', 'example-2.jpg'));
  },
  inspections: drawInspection,
  'video.onboard': async () => {
    await drawKeyFrames();
    await drawVideo();
  },
};

const [asked] = process.argv.slice(2);
for (const [slug, drawFixtures] of Object.entries(DRAWINGS)) {
  if (asked === undefined || asked === slug) await drawFixtures();
}
