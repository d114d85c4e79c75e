/**
 * A process with the decoder restricted as in every child process: reports which of the files it is sent can be read by
 * libvips itself, from memory and from their paths.
 */
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { restrictDecoder } from '../../../src/inference/toolkit/images/decode-image.ts';

restrictDecoder();

const isReadable = (input: Uint8Array | string) =>
  sharp(input)
    .raw()
    .toBuffer()
    .then(
      () => true,
      () => false,
    );

async function answer(path: string): Promise<void> {
  process.send?.({ fromMemory: await isReadable(await readFile(path)), fromPath: await isReadable(path) });
}

process.on('message', (path: string) => void answer(path));
