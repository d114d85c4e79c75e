/**
 * Whether `render.plate` leaves a plate that the project's own reader still reads, on photographs, end to end: picture →
 * `render.plate` → its file → `plate.read`. Prints a line per mode, and the pictures at fault.
 *
 *     node training/evaluate-plate-covers.ts --photographs FOLDER [--sets plates/eu,plates/us] [--most 200] [--modes blur,mask,replace] [--sheet FILE.png]
 *
 * A plate that was read before counts as left if a reading afterwards has its characters (O = 0, I = 1); as read if anything at all is
 * read afterwards that the replacement does not say. `--sheet` draws the plates of each result side by side, to be looked at; it is
 * never committed.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { PLATE_MODES } from '../src/contracts/vocabulary/renders.ts';
import type { Result as ReadResult } from '../src/endpoints/plate.read/result.ts';
import type { Result as RenderResult } from '../src/endpoints/render.plate/result.ts';
import { encodePicture } from '../src/inference/toolkit/images/encode-image.ts';
import type { MadePicture } from '../src/inference/toolkit/images/made-pictures.ts';
import { openProduct } from './evaluate-readers.ts';

/** As a dealer would write it; no plate of the sets says so. */
const REPLACEMENT = 'AUTOHAUS';
const CELL = { width: 240, height: 90 };

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
    photographs: { type: 'string' },
    sets: { type: 'string', default: 'plates/eu,plates/us' },
    modes: { type: 'string', default: PLATE_MODES.join(',') },
    most: { type: 'string', default: '200' },
    sheet: { type: 'string' },
  },
});
const { photographs } = options;
if (photographs === undefined) throw new Error('--photographs names the folder of the photographs');
const modes = PLATE_MODES.filter((mode) => options.modes.split(',').includes(mode));

const open = await openProduct(options.models);
const [reader, renderer] = [await open('plate.read'), await open('render.plate')];
const files = (
  await Promise.all(
    options.sets.split(',').map(async (set) => {
      const truth = JSON.parse(await readFile(join(photographs, set, 'truth.json'), 'utf8')) as object;
      return Object.keys(truth).map((name) => join(photographs, set, 'images', name));
    }),
  )
)
  .flat()
  .slice(0, Number(options.most));

const counts = Object.fromEntries(modes.map((mode) => [mode, { pictures: 0, left: 0, read: 0 }]));
const cells: Buffer[] = [];
let withoutPlate = 0;
for (const file of files) {
  const bytes = await readFile(file);
  const before = await textsIn(bytes);
  let found = 0;
  for (const mode of modes) {
    const parameters = { mode, ...(mode === 'replace' && { replacement_text: REPLACEMENT }) };
    const { image, plates } = (await renderer.read(bytes, parameters)) as { image: MadePicture } & Pick<
      RenderResult,
      'plates'
    >;
    found = plates.length;
    const made = Buffer.from(await encodePicture(image));
    const after = (await textsIn(made)).filter((text) => mode !== 'replace' || !saysReplacement(text));
    const count = counts[mode];
    if (!count) continue;
    count.pictures += 1;
    if (after.length > 0) count.read += 1;
    if (after.some((text) => before.includes(text))) count.left += 1;
    if (after.length > 0) console.log(`${mode} ${file}: read ${before.join(' ')} before, ${after.join(' ')} after`);
    const [plate] = plates;
    if (options.sheet && plate) cells.push(await cutOf(made, plate.bbox));
  }
  if (found === 0) withoutPlate += 1;
}
for (const [mode, { pictures, left, read }] of Object.entries(counts)) {
  console.log(`${mode}: ${pictures} pictures, the plate is still read in ${left}, anything is read in ${read}`);
}
console.log(`no plate was found in ${withoutPlate}`);
if (options.sheet && cells.length > 0) await drawSheet(options.sheet);

async function textsIn(bytes: Buffer): Promise<string[]> {
  const { plates } = (await reader.read(bytes)) as ReadResult;
  return plates.flatMap(({ text }) => (text === null ? [] : [folded(text)]));
}

function folded(text: string): string {
  return text.replaceAll('O', '0').replaceAll('I', '1');
}

/** Whether a text is the replacement or a part of it: it may be read with a letter missing. */
function saysReplacement(text: string): boolean {
  const own = new Set(folded(REPLACEMENT));
  return Array.from(text).filter((character) => own.has(character)).length >= text.length - 1;
}

/** The plate and twice its surroundings. */
async function cutOf(bytes: Buffer, { x, y, width, height }: RenderResult['plates'][number]['bbox']): Promise<Buffer> {
  const size = await sharp(bytes).metadata();
  const left = Math.max(0, Math.floor(x - width / 2));
  const top = Math.max(0, Math.floor(y - height / 2));
  return sharp(bytes)
    .extract({
      left,
      top,
      width: Math.max(1, Math.min(size.width - left, Math.ceil(2 * width))),
      height: Math.max(1, Math.min(size.height - top, Math.ceil(2 * height))),
    })
    .resize(CELL.width, CELL.height, { fit: 'contain', background: '#ffffff' })
    .png()
    .toBuffer();
}

async function drawSheet(path: string): Promise<void> {
  const columns = modes.length * 2;
  await sharp({
    create: {
      width: columns * CELL.width,
      height: Math.ceil(cells.length / columns) * CELL.height,
      channels: 3,
      background: '#ffffff',
    },
  })
    .composite(
      cells.map((input, index) => ({
        input,
        left: (index % columns) * CELL.width,
        top: Math.floor(index / columns) * CELL.height,
      })),
    )
    .png()
    .toFile(path);
}
