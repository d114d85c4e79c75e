/** API keys of the organisation. */
import { Type } from 'typebox';
import { closed, nullable } from '../../contracts/vocabulary/schemas.ts';
import { ApiKey } from '../../db/entities.ts';
import { countActiveApiKeys, lockApiKey } from '../../db/organizations/api-keys.ts';
import { findPage } from '../../db/pages.ts';
import { type KeyMode, newApiKeySecret } from '../../domain/api-keys.ts';
import { newId } from '../../domain/ids.ts';
import { epochSeconds as toEpochSeconds } from '../../domain/job-resource.ts';
import { mayDo } from '../../domain/roles.ts';
import { normalizeScopes, SCOPE_CATALOGUE } from '../../domain/scopes.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { pageParameters } from '../requests/query.ts';
import { epochSeconds, name, notFound, pageOf, pathId, renderPage } from './fields.ts';
import { defineOperation, type ManagementRequest, type Member } from './operation.ts';

/** Of one organisation, at a time. */
export const MOST_ACTIVE_KEYS = 100;
const GRACE_SECONDS = { default: 86_400, maximum: 604_800 } as const;

const TAG = 'API keys';

const apiKey = {
  id: Type.String({ pattern: '^key_[1-9A-HJ-NP-Za-km-z]{8,32}$' }),
  object: Type.Literal('api_key'),
  name: Type.String(),
  prefix: Type.String({ description: 'Readable head of the key, to recognise it by.' }),
  livemode: Type.Boolean(),
  is_staging: Type.Boolean(),
  scopes: Type.Array(Type.String(), {
    description: 'Each once; whoever may write may read. Empty: no business access.',
  }),
  created: epochSeconds,
  created_by: Type.String({ description: 'The user who made it. What becomes of the user does not affect the key.' }),
  last_used_at: nullable(epochSeconds),
  revoked_at: nullable(epochSeconds),
  expires_at: nullable(epochSeconds),
  rotates_at: nullable(epochSeconds),
};
const answer = closed(apiKey);
const answerWithSecret = closed({
  ...apiKey,
  secret: Type.String({ description: 'The full key. It is shown here and never again.' }),
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
  answer: closed({ data: Type.Array(Type.String()) }),
  handle: async () => ({ data: SCOPE_CATALOGUE }),
});

const createKey = defineOperation({
  id: 'createApiKey',
  method: 'post',
  path: '/mgmt/v1/api-keys',
  tag: TAG,
  summary: 'Make a key',
  description: 'A member makes test keys only. Without `scopes` the key has no business access.',
  permission: 'test_api_keys:write',
  status: 201,
  answer: answerWithSecret,
  errors: ['api_key_limit_reached'],
  showsSecret: true,
  body: Type.Object(
    {
      name,
      livemode: Type.Boolean({ description: 'false makes a test key.' }),
      is_staging: Type.Boolean({ default: false, description: 'Requires livemode. Draws on the live credits.' }),
      scopes: scopes({ default: [] }),
      expires_at: expiry,
    },
    { additionalProperties: false },
  ),
  authorize: async ({ member, body }) => assertMayChange(member, body),
  async handle({ em, member, body, now }) {
    if (body.is_staging && !body.livemode) {
      throw new ServiceError('parameter_invalid', 'A staging key is a live key: give "livemode": true with it.', {
        param: 'is_staging',
      });
    }
    const expiresAt = asExpiry(body.expires_at, now) ?? null;
    if ((await countActiveApiKeys(em, member.organizationId, now)) >= MOST_ACTIVE_KEYS) {
      throw new ServiceError(
        'api_key_limit_reached',
        `An organisation may have ${MOST_ACTIVE_KEYS} keys that work. Revoke one that is not needed.`,
      );
    }
    const { secret, prefix, hash } = newApiKeySecret(modeOf(body.livemode, body.is_staging));
    const key = em.create(ApiKey, {
      id: newId('apiKey'),
      organizationId: member.organizationId,
      name: body.name,
      prefix,
      secretHash: hash,
      previousSecretHash: null,
      livemode: body.livemode,
      isStaging: body.is_staging,
      scopes: normalizeScopes(body.scopes),
      createdBy: member.userId,
      createdAt: now,
      lastUsedAt: null,
      revokedAt: null,
      expiresAt,
      rotatesAt: null,
    });
    return { ...render(key), secret };
  },
});

const listKeys = defineOperation({
  id: 'listApiKeys',
  method: 'get',
  path: '/mgmt/v1/api-keys',
  tag: TAG,
  summary: 'List keys, newest first',
  permission: 'api_keys:read',
  answer: pageOf(answer),
  query: Type.Object(
    {
      ...pageParameters,
      livemode: Type.Optional(Type.Boolean()),
      revoked: Type.Optional(Type.Boolean({ description: 'Only those that were revoked, or only the others.' })),
    },
    { additionalProperties: false },
  ),
  async handle({ em, member: { organizationId }, query: { livemode, revoked, ...page } }) {
    const where = {
      organizationId,
      ...(livemode !== undefined && { livemode }),
      ...(revoked !== undefined && { revokedAt: revoked ? { $ne: null } : null }),
    };
    return renderPage(await findPage<ApiKey>(em, ApiKey, where, page), render);
  },
});

const getKey = defineOperation({
  id: 'getApiKey',
  method: 'get',
  path: '/mgmt/v1/api-keys/{id}',
  tag: TAG,
  summary: 'Read a key',
  permission: 'api_keys:read',
  answer,
  handle: async (request) => render(await findKey(request)),
});

const updateKey = defineOperation({
  id: 'updateApiKey',
  method: 'patch',
  path: '/mgmt/v1/api-keys/{id}',
  tag: TAG,
  summary: 'Change name, scopes or expiry of a key',
  description: 'What is left out stays. A member changes test keys only.',
  permission: 'test_api_keys:write',
  answer,
  errors: ['api_key_inactive'],
  body: Type.Object(
    {
      name: Type.Optional(name),
      scopes: Type.Optional(scopes()),
      expires_at: expiry,
    },
    { additionalProperties: false },
  ),
  authorize: assertMayChangeKey,
  async handle(request) {
    const { body, now } = request;
    const expiresAt = asExpiry(body.expires_at, now);
    const key = await lockKey(request);
    assertActive(key, now);
    if (body.name !== undefined) key.name = body.name;
    if (body.scopes !== undefined) key.scopes = normalizeScopes(body.scopes);
    if (expiresAt !== undefined) {
      key.expiresAt = expiresAt;
      key.rotatesAt = key.rotatesAt && earlierOf(key.rotatesAt, expiresAt);
    }
    return render(key);
  },
});

const rotateKey = defineOperation({
  id: 'rotateApiKey',
  method: 'post',
  path: '/mgmt/v1/api-keys/{id}/rotate',
  tag: TAG,
  summary: 'Give a key a new secret',
  description:
    'The key keeps its id. The secret until now works for the time of grace, and never past `expires_at`; one from ' +
    'before an earlier rotation ends at once. A member rotates test keys only.',
  permission: 'test_api_keys:write',
  answer: answerWithSecret,
  errors: ['api_key_inactive'],
  showsSecret: true,
  body: Type.Object(
    {
      grace_seconds: Type.Integer({
        minimum: 0,
        maximum: GRACE_SECONDS.maximum,
        default: GRACE_SECONDS.default,
        description: 'For which the secret until now goes on working.',
      }),
    },
    { additionalProperties: false },
  ),
  authorize: assertMayChangeKey,
  async handle(request) {
    const { body, now } = request;
    const key = await lockKey(request);
    assertActive(key, now);
    const { secret, prefix, hash } = newApiKeySecret(modeOf(key.livemode, key.isStaging));
    key.previousSecretHash = key.secretHash;
    key.secretHash = hash;
    key.prefix = prefix;
    // A whole second, as it is shown.
    const graceEnds = new Date((toEpochSeconds(now) + body.grace_seconds) * 1000);
    key.rotatesAt = earlierOf(graceEnds, key.expiresAt);
    return { ...render(key), secret };
  },
});

const revokeKey = defineOperation({
  id: 'revokeApiKey',
  method: 'post',
  path: '/mgmt/v1/api-keys/{id}/revoke',
  tag: TAG,
  summary: 'End a key',
  description: 'At once, and for good. Done again, it answers the same. A member revokes test keys only.',
  permission: 'test_api_keys:write',
  answer,
  authorize: assertMayChangeKey,
  async handle(request) {
    const key = await lockKey(request);
    key.revokedAt ??= request.now;
    return render(key);
  },
});

export const apiKeyOperations = [listScopes, createKey, listKeys, getKey, updateKey, rotateKey, revokeKey];

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

/** A key keeps its mode for good, so it need not be locked. @throws ServiceError `role_not_permitted` */
async function assertMayChangeKey(request: KeyRequest): Promise<void> {
  assertMayChange(request.member, await findKey(request));
}

/** Everybody who gets here may change test keys. @throws ServiceError `role_not_permitted` */
function assertMayChange({ role }: Member, { livemode }: Pick<ApiKey, 'livemode'>): void {
  if (!livemode || mayDo(role, 'api_keys:write')) return;
  throw new ServiceError('role_not_permitted', `The role ${role} makes and changes test keys only.`);
}

function assertActive({ revokedAt, expiresAt }: ApiKey, now: Date): void {
  if (!revokedAt && (!expiresAt || expiresAt > now)) return;
  const what = revokedAt ? 'was revoked' : 'has expired';
  throw new ServiceError('api_key_inactive', `This key ${what}, and stays so. Make a new one.`);
}

/** Undefined stays undefined. @throws ServiceError when it is not in the future */
function asExpiry(seconds: number | null | undefined, now: Date): Date | null | undefined {
  if (seconds === null || seconds === undefined) return seconds;
  const time = new Date(seconds * 1000);
  if (time > now) return time;
  throw new ServiceError('parameter_invalid', '"expires_at" must be in the future.', { param: 'expires_at' });
}

const earlierOf = (time: Date, limit: Date | null) => (limit && limit < time ? limit : time);

const modeOf = (livemode: boolean, isStaging: boolean): KeyMode =>
  livemode ? (isStaging ? 'staging' : 'live') : 'test';

function render(key: ApiKey) {
  return {
    id: key.id,
    object: 'api_key',
    name: key.name,
    prefix: key.prefix,
    livemode: key.livemode,
    is_staging: key.isStaging,
    scopes: key.scopes,
    created: toEpochSeconds(key.createdAt),
    created_by: key.createdBy,
    last_used_at: key.lastUsedAt && toEpochSeconds(key.lastUsedAt),
    revoked_at: key.revokedAt && toEpochSeconds(key.revokedAt),
    expires_at: key.expiresAt && toEpochSeconds(key.expiresAt),
    rotates_at: key.rotatesAt && toEpochSeconds(key.rotatesAt),
  };
}
