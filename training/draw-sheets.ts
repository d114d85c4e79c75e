/**
 * What endpoints find, drawn over pictures, to be looked at: contact sheets as JPEG, for each endpoint as many as the pictures fill.
 * Outlines, quads and boxes have the colours and names of the console's overlays. A picture that an endpoint makes stands on the
 * right of the one that was sent.
 *
 *     npm run -s models:sheets -- --pictures FOLDER --to FOLDER [--only parts.segment,damage.detect] [--count 24] [--models FOLDER] \
 *       [--parameters '{"upscale_factor":2}']
 *
 * A picture that an endpoint refuses is shown with the reason.
 */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import sharp, { type OverlayOptions } from 'sharp';
import { serveInProcess } from '../bench/in-process.ts';
import { colourOf, describeShape, findPlaces, isFields, labelOf, type Shape } from '../src/api/pages/find-shapes.ts';
import { escapeHtml } from '../src/api/pages/markdown.ts';
import { encodePicture } from '../src/inference/toolkit/images/encode-image.ts';
import type { MadePicture } from '../src/inference/toolkit/images/made-pictures.ts';

const COLUMNS = 4;
const ROWS = 3;
/** Pixels of one picture on a sheet, and of the lines of print below it. */
const CELL = { width: 480, height: 360 };
const LINE_HEIGHT = 17;
const LINES = 6;
const TEXT_HEIGHT = LINE_HEIGHT * LINES + 6;

const { values: options } = parseArgs({
  options: {
    pictures: { type: 'string' },
    to: { type: 'string' },
    only: {
      type: 'string',
      default: 'vehicle.segment,parts.segment,vehicle.pose,vehicle.identify,tire.detect,damage.detect',
    },
    count: { type: 'string', default: '24' },
    parameters: { type: 'string', default: '{}' },
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
  },
});
const { pictures: folder, to } = options;
if (folder === undefined || to === undefined)
  throw new Error('--pictures names the folder of the pictures, --to that of the sheets');

const names = (await readdir(folder)).filter((name) => /\.(?:jpe?g|png|webp)$/i.test(name)).sort();
// Evenly from the whole folder: neighbours often show the same vehicle.
const step = Math.max(1, names.length / Number(options.count));
const chosen = names
  .filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
  .slice(0, Number(options.count));
const parameters = JSON.parse(options.parameters) as Record<string, unknown>;
const serve = await serveInProcess(options.models);
await mkdir(to, { recursive: true });

for (const endpoint of options.only.split(',')) {
  const { read, version } = await serve(endpoint);
  const cells: Buffer[] = [];
  for (const name of chosen) {
    const file = await readFile(join(folder, name));
    const result = await read(file, parameters).catch((error: unknown) => ({
      refused: error instanceof Error ? error.message : String(error),
    }));
    cells.push(await drawCell(file, name, result));
  }
  const perSheet = COLUMNS * ROWS;
  for (let first = 0; first < cells.length; first += perSheet) {
    const path = join(to, `${endpoint}-${first / perSheet + 1}.jpg`);
    await writeSheet(cells.slice(first, first + perSheet), path);
    console.log(`${path}: ${endpoint} by ${version}`);
  }
}

/** The picture with what was found in it, and below it the names of these things and the result's own fields. */
async function drawCell(file: Buffer, name: string, result: unknown): Promise<Buffer> {
  const { data, info } = await sharp(file).autoOrient().toBuffer({ resolveWithObject: true });
  const { made, rest } = takePicture(result);
  const room = made ? CELL.width / 2 : CELL.width;
  const scale = Math.min(room / info.width, CELL.height / info.height);
  const [width, height] = [Math.round(info.width * scale), Math.round(info.height * scale)];
  const { shapes } = findPlaces(rest);
  const firsts = [...new Map(shapes.map((shape) => [shape.group, shape])).values()];
  const lines: { text: string; colour: string }[] = [
    { text: `${name}  ${factsOf(rest)}`, colour: '#fff' },
    ...firsts.map((shape) => ({ text: describeShape(shape), colour: colourOf(shape.group) })),
  ];
  const places = shapes.map((shape) => drawShape(shape, scale, info)).join('');
  const layers: OverlayOptions[] = [
    { input: await sharp(data).resize(width, height).toBuffer(), left: 0, top: 0 },
    {
      input: Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${places}</svg>`),
      left: 0,
      top: 0,
    },
    { input: Buffer.from(drawLines(lines)), left: 0, top: CELL.height },
    ...(made ? [{ input: await drawMade(made), left: CELL.width / 2, top: 0 }] : []),
  ];
  const create = { width: CELL.width, height: CELL.height + TEXT_HEIGHT, channels: 3, background: '#111' } as const;
  return sharp({ create }).composite(layers).png().toBuffer();
}

/** A result's picture, and the result without its pictures: their pixels are no fields. */
function takePicture(result: unknown): { made: MadePicture | null; rest: unknown } {
  if (!isFields(result)) return { made: null, rest: result };
  const isMade = (value: unknown) => isFields(value) && value.object === 'made_picture';
  const pictures = Object.entries(result).filter(([, value]) => isMade(value));
  const [, made] = pictures.find(([name]) => name !== 'cut_out') ?? pictures[0] ?? [];
  const rest = Object.fromEntries(Object.entries(result).filter(([, value]) => !isMade(value)));
  return { made: (made as MadePicture | undefined) ?? null, rest };
}

async function drawMade(made: MadePicture): Promise<Buffer> {
  return sharp(await encodePicture(made))
    .resize({ width: CELL.width / 2, height: CELL.height, fit: 'inside' })
    .png()
    .toBuffer();
}

function drawShape(
  { kind, points, isNormalized, group }: Shape,
  scale: number,
  { width, height }: { width: number; height: number },
): string {
  const [x, y] = isNormalized ? [scale * width, scale * height] : [scale, scale];
  const colour = colourOf(group);
  const paint = `stroke="${colour}" stroke-width="2" fill="${colour}" fill-opacity="${kind === 'box' ? 0 : 0.25}"`;
  const [first] = points;
  if (kind === 'point' && first) return `<circle cx="${first.x * x}" cy="${first.y * y}" r="6" ${paint}/>`;
  return `<polygon points="${points.map((point) => `${point.x * x},${point.y * y}`).join(' ')}" ${paint}/>`;
}

/** Two columns: parts are many. */
function drawLines(lines: readonly { text: string; colour: string }[]): string {
  const [head, ...rest] = lines;
  const text = (each: { text: string; colour: string } | undefined, column: number, row: number) =>
    each === undefined
      ? ''
      : `<text x="${6 + (column * CELL.width) / 3}" y="${(row + 1) * LINE_HEIGHT}" fill="${each.colour}">${escapeHtml(each.text)}</text>`;
  const placed = rest.slice(0, 3 * (LINES - 1)).map((each, index) => text(each, index % 3, 1 + Math.floor(index / 3)));
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${CELL.width}" height="${TEXT_HEIGHT}" font-family="DejaVu Sans" font-size="11">` +
    `${text(head, 0, 0)}${placed.join('')}</svg>`
  );
}

/** Fields of the result that have a value and no place: `view front_left 98 %`. */
function factsOf(result: unknown): string {
  if (!isFields(result)) return '';
  return Object.entries(result)
    .flatMap(([name, value]) => {
      if (typeof value === 'string') return [`${name}: ${value}`];
      const told = isFields(value) ? labelOf(value) : null;
      if (told === null) return [];
      const confidence =
        isFields(value) && typeof value.confidence === 'number' ? ` ${Math.round(100 * value.confidence)} %` : '';
      return [`${name} ${told}${confidence}`];
    })
    .join(', ');
}

async function writeSheet(cells: readonly Buffer[], path: string): Promise<void> {
  const rows = Math.ceil(cells.length / COLUMNS);
  const height = CELL.height + TEXT_HEIGHT;
  const create = { width: COLUMNS * CELL.width, height: rows * height, channels: 3, background: '#111' } as const;
  const layers = cells.map((input, index) => ({
    input,
    left: (index % COLUMNS) * CELL.width,
    top: Math.floor(index / COLUMNS) * height,
  }));
  await sharp({ create }).composite(layers).jpeg({ quality: 85 }).toFile(path);
}
