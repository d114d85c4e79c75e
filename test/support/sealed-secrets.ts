import { createSealedSecrets } from '../../src/platform/sealed-secrets.ts';

/** Seals the secrets of rows that tests make, and opens them again in the code under test. */
export const testSealedSecrets = createSealedSecrets(['sealing key of the tests']);
