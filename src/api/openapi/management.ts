/** The management API in OpenAPI, derived from its operations. */
import type { TObject, TSchema } from 'typebox';
import { ERRORS } from '../../contracts/error-codes.ts';
import { PERMISSIONS, ROLES } from '../../organizations/roles.ts';
import type { Operation } from '../management/operation.ts';
import { statusOf } from '../management/router.ts';
import { errorResponsesOf, idempotencyKeyParameter } from './operations.ts';

/** Possible on every operation: an invalid token, too many requests, an unavailable service. */
const ALWAYS = [400, 401, 429, 500, 503];

export function managementPaths(operations: readonly Operation[]) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) };
  }
  return paths;
}

function describe(operation: Operation) {
  const { id, tag, summary, description, permission, method, path, body, query, response, errors = [] } = operation;
  const status = statusOf(operation);
  const statuses = new Set([...ALWAYS, ...errors.flatMap((code) => ERRORS[code].status ?? [])]);
  if (PERMISSIONS[permission].length < ROLES.length) statuses.add(403);
  if (path.includes('{')) statuses.add(404);
  if (method === 'post') statuses.add(409);
  if (method !== 'get') statuses.add(413).add(415);
  return {
    operationId: id,
    summary,
    tags: [tag],
    description: [description, `Roles: ${PERMISSIONS[permission].join(', ')}.`].filter(Boolean).join('\n\n'),
    security: [{ memberToken: [] }],
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...parametersOf(query),
      ...(method === 'post' ? [idempotencyKeyParameter] : []),
    ],
    ...(body && {
      requestBody: {
        required: requiredOf(body).length > 0,
        content: { 'application/json': { schema: { ...body, required: requiredOf(body) } } },
      },
    }),
    responses: {
      [status]:
        status === 204
          ? { description: 'No content.' }
          : { description: summary, content: contentOf(operation, response) },
      ...errorResponsesOf('management', ...statuses),
    },
  };
}

function parametersOf(query: TObject | undefined) {
  const properties: Record<string, TSchema> = query?.properties ?? {};
  const required = query ? requiredOf(query) : [];
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    schema,
  }));
}

interface ObjectSchema {
  required?: readonly string[];
  properties: Readonly<Record<string, TSchema>>;
}

/** A field with a default is optional. */
function requiredOf({ required = [], properties }: ObjectSchema): string[] {
  return required.filter((name) => !('default' in (properties[name] ?? {})));
}

function contentOf({ otherMediaTypes = [] }: Operation, response: TSchema) {
  return {
    'application/json': { schema: response },
    ...Object.fromEntries(otherMediaTypes.map((mediaType) => [mediaType, { schema: { type: 'string' } }])),
  };
}
