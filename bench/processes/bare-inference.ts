/**
 * The yardstick for inference: a process that loads a network with ONNX Runtime and runs it in a loop, alone
 * (`run`: always the same tensor) or with its preparation (`whole`: decode, resize, tensor).
 */
import { readFile } from 'node:fs/promises';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { parseManifest } from '../../src/inference/models/manifest.ts';
import { decodeImage, restrictDecoder } from '../../src/inference/toolkit/images/decode-image.ts';
import { createPictureInput } from '../../src/inference/toolkit/images/picture-input.ts';

export interface BareOrder {
  /** Folder of a release of a model with one file, `network`. */
  release: string;
  picture: Uint8Array;
  threads: number;
  loop: 'run' | 'whole';
  /** Ends after this many rounds, or this long. */
  rounds: number;
  milliseconds: number;
}

restrictDecoder();

process.on('disconnect', () => process.exit(0));
process.on('message', (order: BareOrder) => {
  void loop(order).then((durationsMs) => process.send?.(durationsMs));
});

let opened: { release: string; session: InferenceSession } | null = null;

async function loop({ release, picture, threads, loop, rounds, milliseconds }: BareOrder): Promise<number[]> {
  const manifest = parseManifest(await readFile(`${release}/model.json`, 'utf8'));
  if (opened?.release !== release) {
    const session = await InferenceSession.create(`${release}/${manifest.files.network?.path}`, {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
    });
    opened = { release, session };
  }
  const { session } = opened;
  const run = () => Promise.reject(new Error('only the input of the model is used'));
  const input = createPictureInput({ manifest, uses: {}, run }, 'network');
  const tensorOf = async () => {
    const { data, shape } = input.prepare(await decodeImage(picture)).tensor;
    return new Tensor('float32', data, shape);
  };
  const prepared = await tensorOf();
  // Like a child process of a worker before it takes work.
  await session.run({ [input.name]: prepared });

  const durationsMs: number[] = [];
  const endsAtMs = performance.now() + milliseconds;
  while (durationsMs.length < rounds && performance.now() < endsAtMs) {
    const startedAtMs = performance.now();
    await session.run({ [input.name]: loop === 'run' ? prepared : await tensorOf() });
    durationsMs.push(performance.now() - startedAtMs);
  }
  return durationsMs;
}
