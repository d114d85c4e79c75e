/** The inference worker process without networks, for `soak`. */
import { replaceModule } from './replace-module.ts';

replaceModule(
  new URL('../../src/inference/backends/create-backend.ts', import.meta.url),
  new URL('soak-backend.ts', import.meta.url),
);
await import('../../src/workers/inference.ts');
