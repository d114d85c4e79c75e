import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Calls `use` with the path of a file that has the content, and removes the file afterwards. */
export async function withTemporaryFile<Result>(
  content: Readable,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  // An error that comes before the pipeline listens, or when there is none, would end the process.
  content.on('error', () => {});
  try {
    const directory = await mkdtemp(join(tmpdir(), 'object-'));
    try {
      const path = join(directory, 'object');
      await pipeline(content, createWriteStream(path));
      return await use(path);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  } finally {
    content.destroy();
  }
}
