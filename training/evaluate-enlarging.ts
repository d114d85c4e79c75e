/**
 * Whether enlarging alters what a plate says, end to end: photograph, shrunk → enlarged by bicubic scaling, and by `render.enhance` →
 * `plate.read`. Prints, for each way, how many numbers are read rightly, wrongly and not at all, and each picture of which bicubic
 * scaling and the network give different readings.
 *
 *     node training/evaluate-enlarging.ts --photographs FOLDER [--sets plates/eu,plates/us] [--factor 2] [--most 200] [--models FOLDER]
 *
 * O counts as 0 and I as 1.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import type { Result as ReadResult } from '../src/endpoints/plate.read/result.ts';
import { encodePicture } from '../src/inference/toolkit/images/encode-image.ts';
import type { MadePicture } from '../src/inference/toolkit/images/made-pictures.ts';
import { openProduct } from './evaluate-readers.ts';

const { values: options } = parseArgs({
  options: {
    models: { type: 'string', default: fileURLToPath(new URL('../models', import.meta.url)) },
    photographs: { type: 'string' },
    sets: { type: 'string', default: 'plates/eu,plates/us' },
    factor: { type: 'string', default: '2' },
    most: { type: 'string', default: '200' },
  },
});
const { photographs } = options;
if (photographs === undefined) throw new Error('--photographs names the folder of the photographs');
const factor = Number(options.factor);

const open = await openProduct(options.models);
const [reader, enhancer] = [await open('plate.read'), await open('render.enhance')];

const WAYS = {
  bicubic: async (small: Buffer, { width, height }: { width: number; height: number }) =>
    sharp(small)
      .resize(width * factor, height * factor, { fit: 'fill', kernel: 'cubic' })
      .png()
      .toBuffer(),
  'network, default fidelity': (small: Buffer) => enlarge(small, {}),
  'network, fidelity 0': (small: Buffer) => enlarge(small, { fidelity: 0 }),
} as const;

type Reading = 'right' | 'wrong' | 'nothing';
const counts = new Map<string, Record<Reading, number>>();
for (const set of options.sets.split(',')) {
  const truth = JSON.parse(await readFile(join(photographs, set, 'truth.json'), 'utf8')) as Record<
    string,
    { text: string }[]
  >;
  for (const [name, plates] of Object.entries(truth).slice(0, Number(options.most))) {
    const whole = sharp(await readFile(join(photographs, set, 'images', name))).removeAlpha();
    const { width, height } = await whole.metadata();
    const size = { width: Math.floor(width / factor), height: Math.floor(height / factor) };
    const small = await whole.resize(size.width, size.height, { fit: 'fill', kernel: 'cubic' }).png().toBuffer();
    const right = new Set(plates.map(({ text }) => folded(text)));
    const said: Record<string, string> = {};
    for (const [way, make] of Object.entries(WAYS)) {
      const texts = await textsIn(await make(small, size));
      const reading = texts.length === 0 ? 'nothing' : texts.some((text) => right.has(text)) ? 'right' : 'wrong';
      said[way] = `${reading} ${texts.join(' ')}`.trim();
      const count = counts.get(way) ?? { right: 0, wrong: 0, nothing: 0 };
      count[reading] += 1;
      counts.set(way, count);
    }
    if (new Set(Object.values(said)).size > 1) {
      console.log(
        `${name} (${[...right].join(' ')}): ${Object.entries(said)
          .map((each) => each.join(': '))
          .join('; ')}`,
      );
    }
  }
}
for (const [way, { right, wrong, nothing }] of counts) {
  console.log(`${way}: ${right} right, ${wrong} wrong, ${nothing} nothing`);
}

async function enlarge(small: Buffer, parameters: Record<string, unknown>): Promise<Uint8Array> {
  const asked = { operations: ['upscale'], upscale_factor: factor, output_format: 'png', ...parameters };
  const { image } = (await enhancer.read(small, asked)) as { image: MadePicture };
  return encodePicture(image);
}

async function textsIn(bytes: Uint8Array): Promise<string[]> {
  const { plates } = (await reader.read(bytes)) as ReadResult;
  return plates.flatMap(({ text }) => (text === null ? [] : [folded(text)]));
}

function folded(text: string): string {
  return text.replaceAll('O', '0').replaceAll('I', '1');
}
