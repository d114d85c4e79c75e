import { readFile } from 'node:fs/promises';
import { ERRORS } from '../../contracts/error-codes.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';

const PAGES = new URL('../../../docs/errors/', import.meta.url);

/** `GET /docs/errors`: all codes. */
export async function getErrorIndex(context: ApiContext): Promise<void> {
  await answerPage(context, 'README.md');
}

/** `GET /docs/errors/{code}`: where the `doc_url` of an error leads. */
export function createErrorPageRoute() {
  return async (context: ApiContext): Promise<void> => {
    const code = String(context.params.code);
    if (!Object.hasOwn(ERRORS, code)) throw new ServiceError('resource_not_found', `There is no error code ${code}.`);
    await answerPage(context, `${code}.md`);
  };
}

async function answerPage(context: ApiContext, file: string): Promise<void> {
  context.type = 'text/markdown; charset=utf-8';
  context.body = await readFile(new URL(file, PAGES), 'utf8');
}
