/** Has a pool of two processes, `idle` or `busy` without end, and says which they are. */
import sharp from 'sharp';
import { createTinyBackend, recordingLog, tinyRequest } from './tiny-endpoint.ts';

const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: '#888888' } })
  .png()
  .toBuffer();
const backend = await createTinyBackend({
  store: { get: () => picture },
  children: 2,
  logger: recordingLog().log,
});
if (process.argv[2] === 'busy') {
  const signal = new AbortController().signal;
  const spins = [1, 2].map(() => backend.infer(tinyRequest({ parameters: { behaviour: 'spin' } }), { signal }));
  for (const spin of spins) spin.catch(() => undefined);
}
console.log(JSON.stringify(backend.pids));
