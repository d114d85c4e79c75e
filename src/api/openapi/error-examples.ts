/** The example of each error, taken from its page in `docs/errors/`. */
import { existsSync, readFileSync } from 'node:fs';
import type { ErrorCode } from '../../contracts/error-codes.ts';
import { RESPONSE_CODES } from './error-surfaces.ts';

const PAGES = new URL('../../../docs/errors/', import.meta.url);

/** Examples of the codes that each response can carry, by response name. */
export function errorExamples(publicBaseUrl: string): Readonly<Record<string, Record<string, { value: object }>>> {
  const examples: Record<string, Record<string, { value: object }>> = {};
  for (const [name, codes] of Object.entries(RESPONSE_CODES)) {
    for (const code of codes) {
      const shown = exampleOfPage(code, publicBaseUrl);
      if (shown) examples[name] = { ...examples[name], [code]: { value: shown } };
    }
  }
  return examples;
}

function exampleOfPage(code: ErrorCode, publicBaseUrl: string): object | null {
  const page = new URL(`${code}.md`, PAGES);
  const text = existsSync(page) ? readFileSync(page, 'utf8') : '';
  const json = /^## Example\n+```json\n([\s\S]*?)^```/m.exec(text)?.[1];
  if (json === undefined) return null;
  const { error } = JSON.parse(json) as { error: object };
  return { error: { ...error, doc_url: `${publicBaseUrl}/docs/errors/${code}` } };
}
