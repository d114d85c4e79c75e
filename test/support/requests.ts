/** Requests as customers send them, and the guarantees of a refused one. */
import { expect } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/contracts/error-codes.ts';
import { query } from '../../src/platform/database/orm.ts';
import { type Answer, type CallOptions, PUBLIC_BASE_URL, type TestApi } from './api.ts';
import { jpeg } from './pictures.ts';

export const DASHBOARD_READ = '/v1/dashboard/read';

export interface ReadRequest extends CallOptions {
  /** Null omits the part. */
  image?: Uint8Array | null;
  fields?: Record<string, string>;
  query?: string;
  idempotencyKey?: string;
  scenario?: string;
  /** Sends JSON instead of multipart. */
  json?: unknown;
}

/** Submits a picture, or with `json` a reference to one, to `dashboard.read`. */
export function read(api: TestApi, { query: parameters = '', ...request }: ReadRequest): Promise<Answer> {
  const { idempotencyKey, scenario, json, headers } = request;
  return api.call(DASHBOARD_READ + parameters, {
    method: 'POST',
    body: json === undefined ? form(request) : JSON.stringify(json),
    ...request,
    headers: {
      ...(json !== undefined && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      ...(scenario !== undefined && { 'X-Service-Test-Scenario': scenario }),
      ...headers,
    },
  });
}

export function form({ image = jpeg, fields = {} }: Pick<ReadRequest, 'image' | 'fields'>): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  if (image) body.append('image', filePart(image), 'dashboard.jpg');
  return body;
}

export function filePart(content: Uint8Array): Blob {
  return new Blob([new Uint8Array(content)]);
}

/** Uploads a picture and returns its id. */
export async function upload(api: TestApi, key: string, picture: Uint8Array = jpeg): Promise<string> {
  const body = new FormData();
  body.append('file', filePart(picture), 'dashboard.jpg');
  const answer = await api.call('/v1/uploads', { method: 'POST', key, body });
  expect(answer.status).toBe(201);
  return String(answer.json.id);
}

interface Refusal {
  code: ErrorCode;
  param?: string;
}

/** Proves that a request is refused as documented and leaves nothing behind. */
export async function expectRefusal(api: TestApi, send: () => Promise<Answer>, refusal: Refusal): Promise<Answer> {
  const before = await everythingKept(api);
  const answer = await send();
  expect(answer.error).toMatchObject({
    type: ERRORS[refusal.code].type,
    code: refusal.code,
    doc_url: `${PUBLIC_BASE_URL}/docs/errors/${refusal.code}`,
    request_id: answer.headers.get('Request-Id'),
  });
  expect(answer.error.param).toBe(refusal.param);
  expect(answer.error.message.length).toBeGreaterThan(10);
  expect(answer.status).toBe(ERRORS[refusal.code].status);
  expect(await everythingKept(api)).toEqual(before);
  return answer;
}

/** Proves that a response is the stored one of an earlier request, byte for byte. */
export function expectReplay(replay: Answer, first: Answer): void {
  expect(replay.headers.get('Idempotent-Replayed')).toBe('true');
  expect({ status: replay.status, text: replay.text }).toEqual({ status: first.status, text: first.text });
  expect(replay.headers.get('Content-Type')).toBe(first.headers.get('Content-Type'));
}

const TABLES = [
  'jobs',
  'credit_transfers',
  'credit_accounts',
  'idempotency_claims',
  'uploads',
  'inference_outcomes',
  'events',
  'webhook_deliveries',
  'sdk_licenses',
  'sdk_license_slots',
];

/** Every row and every stored file that a request could have left. */
export async function everythingKept(api: TestApi): Promise<Record<string, unknown>> {
  const kept: Record<string, unknown> = { files: (await api.storedFiles()).sort() };
  for (const table of TABLES) {
    kept[table] = await query(api.orm.em.fork(), `select * from ${table} as kept order by kept::text`);
  }
  return kept;
}
