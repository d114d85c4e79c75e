import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CONFIGURATION_PAGE, renderConfigurationPage } from '../../scripts/write-configuration-docs.ts';

test('docs/configuration.md is what `node scripts/write-configuration-docs.ts` writes', () => {
  expect(readFileSync(CONFIGURATION_PAGE, 'utf8')).toBe(renderConfigurationPage());
});
