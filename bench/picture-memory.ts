/**
 * Whether pictures leave memory behind: sends small ones of changing sizes to endpoints in turn, in this process, and prints the
 * memory as lines of JSON. Networks are those of `models/`; those which find print and plates have inputs small enough for many
 * pictures. Readers see a drawn plate, the others drawn views of a vehicle.
 *
 *     node --expose-gc bench/picture-memory.ts [--of readers|vehicles] [--pictures 10000] [--every 1000]
 */
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import sharp from 'sharp';
import { restrictDecoder } from '../src/inference/toolkit/images/decode-image.ts';
import { serveInProcess } from './in-process.ts';

const { values: options } = parseArgs({
  options: {
    of: { type: 'string', default: 'readers' },
    pictures: { type: 'string', default: '10000' },
    every: { type: 'string', default: '1000' },
  },
});
const [count, every] = [Number(options.pictures), Number(options.every)];

const MODELS = fileURLToPath(new URL('../models', import.meta.url));
const VIEWS = fileURLToPath(new URL('../src/endpoints/render.360/fixtures', import.meta.url));
/** Of a drawn plate, in pixels. */
const HEIGHT = 64;
/** Bounds of the detectors' inputs, in pixels: a hundredth of the usual work and less. */
const SMALL_INPUTS = {
  'print-reader': { shortest: 32, longest: 160, multipleOf: 32 },
  'plate-finder': { shortest: 96, longest: 192, multipleOf: 96 },
};
const SUBJECTS: Readonly<Record<string, { endpoints: string[]; draw: () => Promise<Buffer[]> }>> = {
  readers: {
    endpoints: ['dashboard.read', 'vin.read', 'plate.read', 'tire.read', 'document.read', 'driver_license.read'],
    draw: () => Promise.all([96, 128, 160, 192, 224].map(drawPlate)),
  },
  vehicles: {
    endpoints: [
      'vehicle.segment',
      'vehicle.pose',
      'vehicle.identify',
      'parts.recognize',
      'parts.segment',
      'parts.decompose',
      'tire.detect',
      'damage.detect',
      'damage.severity',
      'render.background',
    ],
    draw: async () => {
      const names = (await readdir(VIEWS)).filter((name) => /^example.*\.jpg$/.test(name));
      return Promise.all(names.map((name, index) => reduce(join(VIEWS, name), 160 + 16 * index)));
    },
  },
};
const subject = SUBJECTS[options.of];
if (!subject) throw new Error(`--of is one of ${Object.keys(SUBJECTS).join(', ')}`);

const directory = await mkdtemp(join(tmpdir(), 'vehicle-inference-memory-'));
try {
  // Before the decoder refuses SVG, of which drawings are made.
  const pictures = await subject.draw();
  restrictDecoder();
  await installSmall();
  const serve = await serveInProcess(directory);
  const served = await Promise.all(subject.endpoints.map(serve));
  for (let sent = 1; sent <= count; sent += 1) {
    // Sizes change before endpoints do: each endpoint sees each size.
    const picture = pictures[sent % pictures.length] as Buffer;
    await served[Math.floor(sent / pictures.length) % served.length]?.read(picture);
    if (sent % every === 0) report(sent);
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}

function report(sent: number): void {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  const megabytes = (bytes: number) => Math.round(bytes / 2 ** 20);
  const memory = { rssMb: megabytes(rss), heapMb: megabytes(heapUsed), externalMb: megabytes(external) };
  console.log(JSON.stringify({ pictures: sent, ...memory }));
}

function drawPlate(width: number): Promise<Buffer> {
  const text = `<text x="6" y="42" font-family="DejaVu Sans" font-size="30" textLength="${width - 12}">AB 123 C</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}"><rect width="100%" height="100%" fill="#fff"/>${text}</svg>`;
  return sharp(Buffer.from(svg)).jpeg().toBuffer();
}

function reduce(path: string, width: number): Promise<Buffer> {
  return sharp(path).resize(width).jpeg().toBuffer();
}

async function installSmall(): Promise<void> {
  await cp(MODELS, directory, { recursive: true });
  for (const [model, sides] of Object.entries(SMALL_INPUTS)) {
    for (const release of await readdir(join(directory, model))) {
      const path = join(directory, model, release, 'model.json');
      const manifest = JSON.parse(await readFile(path, 'utf8')) as { files: { detector: { inputs: object } } };
      for (const input of Object.values(manifest.files.detector.inputs)) Object.assign(input, { sides });
      await writeFile(path, JSON.stringify(manifest));
    }
  }
}
