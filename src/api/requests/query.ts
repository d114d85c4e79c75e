import { Type } from 'typebox';
import type { ApiContext } from '../context.ts';
import { compileValidator } from './validator.ts';

const PAGE_LIMIT = { default: 20, maximum: 100 } as const;

/** Query parameters of every list. Pages run from newest to oldest. */
export const pageParameters = {
  limit: Type.Integer({
    minimum: 1,
    maximum: PAGE_LIMIT.maximum,
    default: PAGE_LIMIT.default,
    description: 'Maximum number of items in the page.',
  }),
  starting_after: Type.Optional(Type.String({ description: 'Id of the last item of the previous page.' })),
  ending_before: Type.Optional(
    Type.String({ description: 'Id of the first item of a page: returns the page before it.' }),
  ),
};

/** One day before the year 10000, so that no time zone carries a date past PostgreSQL's four-digit years. */
export const LATEST_SECONDS = 253_402_214_399;

/** Bounds of a creation time, in epoch seconds. */
export const createdParameters = Object.fromEntries(
  ['gte', 'gt', 'lte', 'lt'].map((bound) => [
    `created[${bound}]`,
    Type.Optional(Type.Integer({ minimum: 0, maximum: LATEST_SECONDS, description: 'Epoch seconds.' })),
  ]),
);

/** Creates the reader of a query string: it coerces text to the schema's types and fills in defaults. */
export function createQueryReader<Schema extends Type.TObject>(schema: Schema) {
  const validate = compileValidator(schema, 'multipart');
  return (context: ApiContext): Type.Static<Schema> => {
    const query: Record<string, unknown> = { ...context.query };
    validate(query);
    return query as Type.Static<Schema>;
  };
}
