/**
 * `npm run -s storage -- <command>`: checks the store, and moves its objects to another one while the service runs. Reads
 * the variables of the service; prints JSON; exits with status 1 when something could not be moved.
 */
import { parseArgs } from 'node:util';
import { readConfig } from '../config/config.ts';
import { moveObjects } from './move-objects.ts';
import { openStores } from './open-store.ts';

const USAGE = `usage:
  npm run -s storage -- check
  npm run -s storage -- move [--keep]
STORAGE names two stores for a move: objects go from the second to the first. With --keep they stay in the second too.
docs/operations.md describes the steps of a move.`;

/** Objects between two lines of progress. */
const PROGRESS_EVERY = 100;
const PATIENCE_MS = 60_000;

async function main(): Promise<void> {
  const config = readConfig('storage');
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { keep: { type: 'boolean' } } });
  const [command] = positionals;
  if (command !== 'check' && command !== 'move') throw new Error(USAGE);
  const [first, second] = await openStores(config, {
    patienceMs: PATIENCE_MS,
    onAway(error) {
      throw error;
    },
  });
  if (command === 'check') {
    console.log(JSON.stringify({ stores: config.STORAGE, usable: true }));
    return;
  }
  if (!second)
    throw new Error(`STORAGE must name two stores, such as "bucket,disk"; it is "${config.STORAGE.join()}".`);
  let objects = 0;
  const report = await moveObjects({
    from: second,
    to: first,
    keeps: values.keep ?? false,
    onProgress({ copied, bytes }) {
      objects += 1;
      if (objects % PROGRESS_EVERY === 0) console.error(`${objects} objects, ${copied} copied, ${bytes} bytes`);
    },
  });
  console.log(JSON.stringify(report, null, 2));
  if (report.left > 0) process.exitCode = 1;
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
