/** API keys of the organisation. */
import { Type } from 'typebox';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import {
  assertMayChangeKey,
  changeKey,
  parseExpiry,
  revokeKey,
  rotateKey,
} from '../../organizations/api-key-lifecycle.ts';
import { renderApiKey } from '../../organizations/api-key-resource.ts';
import { createApiKey, lockApiKey } from '../../organizations/api-keys-store.ts';
import { ApiKey } from '../../organizations/entities.ts';
import { SCOPE_CATALOGUE } from '../../organizations/scopes.ts';
import { findPage } from '../../platform/database/pages.ts';
import { pageParameters } from '../requests/query.ts';
import { epochSeconds, graceSeconds, name, notFound, pageOf, pathId, renderPage } from './fields.ts';
import { defineOperation, type ManagementRequest } from './operation.ts';

const TAG = 'API keys';

const apiKey = {
  id: Type.String({ pattern: '^key_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  object: Type.Literal('api_key'),
  name: Type.String(),
  prefix: Type.String({ description: 'The first characters of the key, to recognise it by.' }),
  livemode: Type.Boolean(),
  is_staging: Type.Boolean(),
  scopes: Type.Array(Type.String(), {
    description: 'Without duplicates; each `:write` comes with its `:read`. Empty: no business access.',
  }),
  created: epochSeconds,
  created_by: Type.String({ description: 'The user who created it. Removing the user does not affect the key.' }),
  last_used_at: nullable(epochSeconds),
  revoked_at: nullable(epochSeconds),
  expires_at: nullable(epochSeconds),
  rotates_at: nullable(epochSeconds),
};
const apiKeyResponse = closed(apiKey);
const responseWithSecret = closed({
  ...apiKey,
  secret: Type.String({ description: 'The full key. It is never shown again.' }),
});

const scopes = (options: { default?: string[] } = {}) =>
  Type.Array(Type.Enum([...SCOPE_CATALOGUE]), {
    ...options,
    maxItems: SCOPE_CATALOGUE.length,
    description: 'From GET /mgmt/v1/api-key-scopes.',
  });
const expiry = Type.Optional(
  Type.Union([epochSeconds, Type.Null()], { description: 'Epoch seconds, in the future; null for no expiry.' }),
);

const listScopes = defineOperation({
  id: 'listApiKeyScopes',
  method: 'get',
  path: '/mgmt/v1/api-key-scopes',
  tag: TAG,
  summary: 'The scopes a key can be given',
  permission: 'api_key_scopes:read',
  response: closed({ data: Type.Array(Type.String()) }),
  handle: async () => ({ data: SCOPE_CATALOGUE }),
});

const createKey = defineOperation({
  id: 'createApiKey',
  method: 'post',
  path: '/mgmt/v1/api-keys',
  tag: TAG,
  summary: 'Make a key',
  description: 'Members can create test keys only. Without `scopes` the key has no business access.',
  permission: 'test_api_keys:write',
  status: 201,
  response: responseWithSecret,
  errors: ['api_key_limit_reached'],
  showsSecret: true,
  body: Type.Object(
    {
      name,
      livemode: Type.Boolean({ description: 'false creates a test key.' }),
      is_staging: Type.Boolean({ default: false, description: 'Requires livemode. Draws on the live credits.' }),
      scopes: scopes({ default: [] }),
      expires_at: expiry,
    },
    { additionalProperties: false },
  ),
  authorize: async ({ member, body }) => assertMayChangeKey(member.role, body),
  async handle({ em, member, body, now }) {
    const { key, secret } = await createApiKey(em, {
      organizationId: member.organizationId,
      name: body.name,
      livemode: body.livemode,
      isStaging: body.is_staging,
      scopes: body.scopes,
      createdBy: member.userId,
      expiresAt: parseExpiry(body.expires_at, now) ?? null,
      now,
    });
    return { ...renderApiKey(key), secret };
  },
});

const listKeys = defineOperation({
  id: 'listApiKeys',
  method: 'get',
  path: '/mgmt/v1/api-keys',
  tag: TAG,
  summary: 'List keys, newest first',
  permission: 'api_keys:read',
  response: pageOf(apiKeyResponse),
  query: Type.Object(
    {
      ...pageParameters,
      livemode: Type.Optional(Type.Boolean()),
      revoked: Type.Optional(Type.Boolean({ description: 'true: revoked keys only; false: the others only.' })),
    },
    { additionalProperties: false },
  ),
  async handle({ em, member: { organizationId }, query: { livemode, revoked, ...page } }) {
    const where = {
      organizationId,
      ...(livemode !== undefined && { livemode }),
      ...(revoked !== undefined && { revokedAt: revoked ? { $ne: null } : null }),
    };
    return renderPage(await findPage<ApiKey>(em, ApiKey, 'apiKey', where, page), renderApiKey);
  },
});

const getKey = defineOperation({
  id: 'getApiKey',
  method: 'get',
  path: '/mgmt/v1/api-keys/{id}',
  tag: TAG,
  summary: 'Read a key',
  permission: 'api_keys:read',
  response: apiKeyResponse,
  handle: async (request) => renderApiKey(await findKey(request)),
});

const updateKey = defineOperation({
  id: 'updateApiKey',
  method: 'patch',
  path: '/mgmt/v1/api-keys/{id}',
  tag: TAG,
  summary: 'Change name, scopes or expiry of a key',
  description: 'Omitted fields stay unchanged. Members can change test keys only.',
  permission: 'test_api_keys:write',
  response: apiKeyResponse,
  errors: ['api_key_inactive'],
  body: Type.Object(
    {
      name: Type.Optional(name),
      scopes: Type.Optional(scopes()),
      expires_at: expiry,
    },
    { additionalProperties: false },
  ),
  authorize: authorizeChange,
  async handle(request) {
    const { body, now } = request;
    const expiresAt = parseExpiry(body.expires_at, now);
    const key = await lockKey(request);
    changeKey(key, { ...body, expiresAt }, now);
    return renderApiKey(key);
  },
});

const rotateSecret = defineOperation({
  id: 'rotateApiKey',
  method: 'post',
  path: '/mgmt/v1/api-keys/{id}/rotate',
  tag: TAG,
  summary: 'Give a key a new secret',
  description:
    'The key keeps its id. The previous secret works until the grace period ends, never past `expires_at`; a secret from ' +
    'before an earlier rotation stops working at once. Members can rotate test keys only.',
  permission: 'test_api_keys:write',
  response: responseWithSecret,
  errors: ['api_key_inactive'],
  showsSecret: true,
  body: Type.Object(
    {
      grace_seconds: graceSeconds('How long the previous secret goes on working.'),
    },
    { additionalProperties: false },
  ),
  authorize: authorizeChange,
  async handle(request) {
    const key = await lockKey(request);
    const secret = rotateKey(key, request.body.grace_seconds, request.now);
    return { ...renderApiKey(key), secret };
  },
});

const revoke = defineOperation({
  id: 'revokeApiKey',
  method: 'post',
  path: '/mgmt/v1/api-keys/{id}/revoke',
  tag: TAG,
  summary: 'Revoke a key',
  description:
    'Takes effect at once and cannot be undone. Repeating it changes nothing. Members can revoke test keys only.',
  permission: 'test_api_keys:write',
  response: apiKeyResponse,
  authorize: authorizeChange,
  async handle(request) {
    const key = await lockKey(request);
    revokeKey(key, request.now);
    return renderApiKey(key);
  },
});

export const apiKeyOperations = [listScopes, createKey, listKeys, getKey, updateKey, rotateSecret, revoke];

type KeyRequest = Pick<ManagementRequest, 'em' | 'member' | 'parameters'>;

async function findKey(request: KeyRequest): Promise<ApiKey> {
  const id = pathId(request);
  const key = await request.em.findOne(ApiKey, { id, organizationId: request.member.organizationId });
  if (!key) throw notFound('API key', id);
  return key;
}

async function lockKey(request: KeyRequest): Promise<ApiKey> {
  const id = pathId(request);
  const key = await lockApiKey(request.em, request.member.organizationId, id);
  if (!key) throw notFound('API key', id);
  return key;
}

/** Needs no lock: a key never changes its mode. @throws ServiceError `role_not_permitted` */
async function authorizeChange(request: KeyRequest): Promise<void> {
  assertMayChangeKey(request.member.role, await findKey(request));
}
