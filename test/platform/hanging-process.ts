/** A process whose shutdown hangs in the part that its argument names: `drain`, `close` or none. */

import { createLogger } from '../../src/platform/logging/logger.ts';
import { onShutdown } from '../../src/platform/shutdown.ts';

const [hanging] = process.argv.slice(2);
const logger = createLogger('hanging', 'info');
const part = (name: string) => (name === hanging ? new Promise<void>(() => {}) : Promise.resolve());

setInterval(() => {}, 1_000);
onShutdown(logger, {
  drain: () => part('drain'),
  drainTimeoutMs: 200,
  close: () => part('close'),
  closeTimeoutMs: 200,
});
logger.info('ready');
