/** The orchestration worker process with a sweeper in a hurry, for `soak`. */
import { replaceModule } from './replace-module.ts';

replaceModule(new URL('../../src/workers/sweeper.ts', import.meta.url), new URL('hasty-sweeper.ts', import.meta.url));
await import('../../src/workers/orchestration.ts');
