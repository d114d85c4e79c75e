/** The example of each error, as its page shows it. */
import { existsSync, readFileSync } from 'node:fs';
import { ERRORS, type ErrorCode } from '../../contracts/error-codes.ts';

const PAGES = new URL('../../../docs/errors/', import.meta.url);
const codes = Object.keys(ERRORS) as ErrorCode[];

/** By the name of a response: the examples of the codes that it can carry. */
export function errorExamples(publicBaseUrl: string): Readonly<Record<string, Record<string, { value: object }>>> {
  const examples: Record<string, Record<string, { value: object }>> = {};
  for (const code of codes) {
    const { status } = ERRORS[code];
    const shown = status === null ? null : exampleOfPage(code, publicBaseUrl);
    if (!shown) continue;
    const name = `Error${status}`;
    examples[name] = { ...examples[name], [code]: { value: shown } };
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
