/** The generated parts of the clients. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generateClients } from '../../scripts/generate-clients.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

it.each(Object.entries(generateClients()))('%s is what `node scripts/generate-clients.ts` writes', (path, text) => {
  expect(readFileSync(PROJECT_DIRECTORY + path, 'utf8')).toBe(text);
});
