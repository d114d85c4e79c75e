import { createHash } from 'node:crypto';

export const IDEMPOTENCY_KEY_LENGTH = { minimum: 8, maximum: 255 } as const;

/**
 * Fingerprint of a request's payload: SHA-256 over its canonical JSON, with files as the hashes of their bytes. The order of
 * object keys does not matter, nor the encoding as multipart or JSON.
 */
export function fingerprint(payload: unknown): Buffer {
  return createHash('sha256').update(canonicalJson(payload)).digest();
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`;
}
