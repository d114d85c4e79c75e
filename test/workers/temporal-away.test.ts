/** A worker that starts while Temporal is away: its supervisor starts it again, and the log tells why. */
import { expect, it } from 'vitest';
import { findFreePort } from '../../src/embedded/ports.ts';
import { useProcesses } from '../support/processes.ts';

const FATAL = 60;

const processes = useProcesses();

it('a worker without Temporal logs why it cannot start, and ends with status 1', async () => {
  const nobody = await findFreePort();
  const worker = await processes.start({
    entry: 'src/workers/webhooks.ts',
    environment: {
      SERVICE_ENVIRONMENT: 'development',
      DATABASE_URL: `postgresql://nobody@127.0.0.1:${nobody}/none`,
      TEMPORAL_ADDRESS: `127.0.0.1:${nobody}`,
      SECRET_SEALING_KEYS: 'sealing key of the tests',
    },
  });

  expect(await worker.exited).toEqual({ code: 1, signal: null });
  expect(worker.lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      level: FATAL,
      msg: 'worker failed',
      err: expect.objectContaining({ type: 'TransportError' }),
    }),
  ]);
});
