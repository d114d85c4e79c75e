/** The API process with a Temporal client whose every start succeeds at once. */
import { replaceModule } from './replace-module.ts';

replaceModule(
  new URL('../../src/platform/temporal/connect.ts', import.meta.url),
  new URL('stub-temporal.ts', import.meta.url),
);
await import('../../src/api/main.ts');
