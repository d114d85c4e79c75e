/**
 * The key with which the playground calls `/v1`, like any program. Each member has one of a mode, named Playground. Its secret is
 * in this module only, so a page that is loaded again cannot know it: the first run rotates the key without grace, and what
 * the earlier page knew is worthless. The list of keys, and the usage by key, keep one line for it.
 */
import type { ApiKey, ApiKeyWithSecret, CreateApiKeyScope, Member } from '../../src/client/management.ts';
import { type Page, requestUntilAnswered as request } from './api.ts';

const NAME = 'Playground';
const LIFE_SECONDS = 3_600;
/** A key that ends sooner gets its full life again, so that it does not end during a run. */
const MARGIN_SECONDS = 600;
const SCOPES: CreateApiKeyScope[] = ['*', 'jobs:read', 'storage:write'];

const keys = new Map<boolean, Promise<ApiKeyWithSecret>>();

const nowSeconds = () => Math.floor(Date.now() / 1_000);
const endsAfter = ({ expires_at: end }: ApiKey, seconds: number) => (end ?? Infinity) > nowSeconds() + seconds;

/**
 * @param rejected a secret that the service refused, because another page of this member has rotated the key
 * @throws ApiError if the role may not make keys of the mode
 */
export async function playgroundKey(livemode: boolean, rejected?: string): Promise<string> {
  const kept = keys.get(livemode);
  const known = await kept?.catch(() => null);
  if (known && known.secret !== rejected && endsAfter(known, MARGIN_SECONDS / 2)) return known.secret;
  // Several calls that need a key wait for one.
  if (keys.get(livemode) === kept) keys.set(livemode, obtain(livemode));
  return (await (keys.get(livemode) ?? obtain(livemode))).secret;
}

async function obtain(livemode: boolean): Promise<ApiKeyWithSecret> {
  const { user_id: user } = await request<Member>('GET', '/member');
  const { data } = await request<Page<ApiKey>>('GET', '/api-keys', { query: { livemode, revoked: false, limit: 100 } });
  const mine = data.filter((key) => key.name === NAME && key.created_by === user && !key.is_staging);
  const usable = mine.find((key) => endsAfter(key, 0));
  // What ended cannot be used again, and would stay in the list.
  for (const { id } of mine.filter((key) => key !== usable))
    await request('POST', `/api-keys/${id}/revoke`, { body: {} });
  const expiry = { expires_at: nowSeconds() + LIFE_SECONDS };
  if (!usable) {
    const body = { name: NAME, livemode, scopes: SCOPES, ...expiry };
    return request('POST', '/api-keys', { idempotencyKey: crypto.randomUUID(), body });
  }
  const path = `/api-keys/${usable.id}`;
  if (!endsAfter(usable, MARGIN_SECONDS)) await request('PATCH', path, { body: expiry });
  return request('POST', `${path}/rotate`, { idempotencyKey: crypto.randomUUID(), body: { grace_seconds: 0 } });
}
