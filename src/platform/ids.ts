import { randomBytes } from 'node:crypto';
import { uuidv7obj } from 'uuidv7';

/** Prefix of each kind of id, so that an id in a log shows its kind. */
export const ID_PREFIXES = {
  job: 'job_',
  upload: 'upl_',
  webhookEndpoint: 'whe_',
  webhookDelivery: 'whd_',
  apiKey: 'key_',
  event: 'evt_',
  organization: 'org_',
  user: 'usr_',
  artefact: 'art_',
  request: 'req_',
  creditGrant: 'grt_',
  auditEntry: 'aud_',
  dispatch: 'dsp_',
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const DIGITS = 22;

/** A new id: the kind's prefix and 22 base58 characters of a UUIDv7 (RFC 9562), so that ids sort by time. */
export function newId(kind: IdKind): string {
  return ID_PREFIXES[kind] + base58(uuidv7obj().bytes);
}

/** The lowest id of a kind created at a time or later. No id is older than 1970. */
export function firstIdAt(kind: IdKind, time: Date): string {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(Math.max(0, time.getTime())) << 16n);
  return ID_PREFIXES[kind] + base58(bytes);
}

export function isId(kind: IdKind, text: string): boolean {
  return (
    text.startsWith(ID_PREFIXES[kind]) && /^[1-9A-HJ-NP-Za-km-z]{8,32}$/.test(text.slice(ID_PREFIXES[kind].length))
  );
}

/** 128 bits as base58 of fixed width: unlike the usual encoding it keeps the order of the numbers. */
function base58(bytes: Uint8Array): string {
  let number = 0n;
  for (const byte of bytes) number = (number << 8n) | BigInt(byte);
  let text = '';
  for (let digit = 0; digit < DIGITS; digit += 1) {
    text = BASE58.charAt(Number(number % 58n)) + text;
    number /= 58n;
  }
  return text;
}

/** Random text, for places where an id must not reveal its time. */
export function randomToken(bytes = 16): string {
  return randomBytes(bytes).toString('base64url');
}
