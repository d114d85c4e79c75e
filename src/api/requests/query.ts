import { Type } from 'typebox';
import type { ApiContext } from '../context.ts';
import { compileValidator } from './validator.ts';

const PAGE_LIMIT = { default: 20, maximum: 100 } as const;

/** Query parameters of every list: pages go from the newest to the oldest. */
export const pageParameters = {
  limit: Type.Integer({
    minimum: 1,
    maximum: PAGE_LIMIT.maximum,
    default: PAGE_LIMIT.default,
    description: 'Most items of a page.',
  }),
  starting_after: Type.Optional(
    Type.String({ description: 'Id of the last item of the page before: continues after it.' }),
  ),
  ending_before: Type.Optional(Type.String({ description: 'Id of the first item of a page: goes back before it.' })),
};

/** A day before the year 10000, which no date of PostgreSQL's input may have, not even one second or zone further on. */
export const LATEST_SECONDS = 253_402_214_399;

/** Bounds of a creation time, in epoch seconds. */
export const createdParameters = Object.fromEntries(
  ['gte', 'gt', 'lte', 'lt'].map((bound) => [
    `created[${bound}]`,
    Type.Optional(Type.Integer({ minimum: 0, maximum: LATEST_SECONDS, description: 'Epoch seconds.' })),
  ]),
);

/** Makes the reader of a query string: text is turned into the type the schema asks for, defaults are filled in. */
export function createQueryReader<Schema extends Type.TObject>(schema: Schema) {
  const validate = compileValidator(schema, 'multipart');
  return (context: ApiContext): Type.Static<Schema> => {
    const query: Record<string, unknown> = { ...context.query };
    validate(query);
    return query as Type.Static<Schema>;
  };
}
