/** Fields and helpers shared by the resources of the management API. */
import { type TSchema, Type } from 'typebox';
import { closed } from '../../contracts/vocabulary/schemas.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { LATEST_SECONDS } from '../requests/query.ts';
import type { ManagementRequest } from './operation.ts';

export const epochSeconds = Type.Integer({
  format: 'int64',
  minimum: 0,
  maximum: LATEST_SECONDS,
  description: 'Epoch seconds, UTC.',
});

export const name = Type.String({ minLength: 1, maxLength: 128, pattern: String.raw`\S`, description: 'Not blank.' });

const GRACE_SECONDS = { default: 86_400, maximum: 604_800 } as const;

/** Grace period of a rotation. */
export const graceSeconds = (description: string) =>
  Type.Integer({ minimum: 0, maximum: GRACE_SECONDS.maximum, default: GRACE_SECONDS.default, description });

/** One page of a list. */
export const pageOf = (item: TSchema) =>
  closed({ object: Type.Literal('list'), data: Type.Array(item), has_more: Type.Boolean() });

export function renderPage<Row, Item>(
  { rows, hasMore }: { rows: Row[]; hasMore: boolean },
  render: (row: Row) => Item,
) {
  return { object: 'list', data: rows.map(render), has_more: hasMore };
}

/** The `{id}` of the path. */
export function pathId({ parameters }: Pick<ManagementRequest, 'parameters'>): string {
  return parameters.id ?? '';
}

/** The same error for an id of another organisation and for an unknown id. */
export function notFound(what: string, id: string): ServiceError {
  return new ServiceError('resource_not_found', `There is no ${what} ${id}.`, { param: 'id' });
}
