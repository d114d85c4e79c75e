/** The inference worker process with a model that costs nothing. */
import { replaceModule } from './replace-module.ts';

replaceModule(
  new URL('../../src/inference/backends/create-backend.ts', import.meta.url),
  new URL('no-op-backend.ts', import.meta.url),
);
await import('../../src/workers/inference.ts');
