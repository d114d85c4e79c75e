/** Secrets of API keys: `chk_<mode>_`, 256 random bits as 43 base62 characters, and their CRC-32 as 6 more. */
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type KeyMode = 'live' | 'staging' | 'test';

const PREFIXES: Record<KeyMode, string> = { live: 'chk_live_', staging: 'chk_stg_', test: 'chk_test_' };
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const PATTERN = new RegExp(`^chk_(?:live|stg|test)_[0-9A-Za-z]{${RANDOM_DIGITS + CHECKSUM_DIGITS}}$`);
const SHOWN_RANDOM_DIGITS = 4;

export interface NewApiKeySecret {
  /** The full key: shown once and never stored. */
  secret: string;
  /** The first characters, safe to store and show. */
  prefix: string;
  hash: Buffer;
}

export function newApiKeySecret(mode: KeyMode): NewApiKeySecret {
  const head = PREFIXES[mode] + base62(randomBytes(32), RANDOM_DIGITS);
  const secret = head + checksum(head);
  return { secret, prefix: head.slice(0, PREFIXES[mode].length + SHOWN_RANDOM_DIGITS), hash: hashApiKeySecret(secret) };
}

/** Whether the text has the form of a key. The checksum detects typos without a look-up. */
export function isWellFormedApiKey(secret: string): boolean {
  return PATTERN.test(secret) && secret.endsWith(checksum(secret.slice(0, -CHECKSUM_DIGITS)));
}

/** SHA-256, which is sufficient for a secret of 256 random bits. */
export function hashApiKeySecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function checksum(head: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(head));
  return base62(bytes, CHECKSUM_DIGITS);
}

function base62(bytes: Uint8Array, digits: number): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let digit = 0; digit < digits; digit += 1) {
    text = BASE62.charAt(Number(number % 62n)) + text;
    number /= 62n;
  }
  return text;
}
