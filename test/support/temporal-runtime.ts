/** Temporal's native runtime exists once in a process, and a process runs many test files. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

let isInstalled = false;

/** Without its own log, which a failing activity of a test would fill, and without handlers of signals. */
export function installQuietRuntime(): void {
  if (!isInstalled) Runtime.install({ logger: new DefaultLogger('ERROR', () => {}), shutdownSignals: [] });
  isInstalled = true;
}
