/** The inference worker process with a model that costs CPU time. */
import { replaceModule } from './replace-module.ts';

replaceModule(
  new URL('../../src/inference/backends/create-backend.ts', import.meta.url),
  new URL('cpu-bound-backend.ts', import.meta.url),
);
await import('../../src/workers/inference.ts');
