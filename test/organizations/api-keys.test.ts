import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashApiKeySecret, isWellFormedApiKey, newApiKeySecret } from '../../src/organizations/api-keys.ts';

const MODES = [
  { mode: 'live', prefix: 'chk_live_' },
  { mode: 'staging', prefix: 'chk_stg_' },
  { mode: 'test', prefix: 'chk_test_' },
] as const;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe.each(MODES)('a new key of $mode', ({ mode, prefix }) => {
  it(`a new ${mode} key is ${prefix}, 43 random characters and 6 of checksum`, () => {
    const { secret } = newApiKeySecret(mode);
    expect(secret).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`));
    expect(isWellFormedApiKey(secret)).toBe(true);
  });

  it('a new key shows its prefix and four more characters only', () => {
    const { secret, prefix: shown } = newApiKeySecret(mode);
    expect(shown).toBe(secret.slice(0, prefix.length + 4));
  });

  it('a new key is stored as its SHA-256', () => {
    const { secret, hash } = newApiKeySecret(mode);
    expect(hash).toEqual(createHash('sha256').update(secret).digest());
    expect(hashApiKeySecret(secret)).toEqual(hash);
  });
});

it('the checksum of a key is the CRC-32 of the preceding characters, in base62', () => {
  const { secret } = newApiKeySecret('live');
  let number = 0;
  for (const digit of secret.slice(-6)) number = number * 62 + BASE62.indexOf(digit);
  expect(number).toBe(crc32(secret.slice(0, -6)));
});

it('keys have 256 random bits', () => {
  const keys = Array.from({ length: 1_000 }, () => newApiKeySecret('test').secret);
  expect(new Set(keys).size).toBe(1_000);
  // Every digit but the first, which holds less than its share of the bits, takes many values.
  for (let place = 1; place < 43; place += 1) {
    expect(new Set(keys.map((key) => key['chk_test_'.length + place])).size).toBeGreaterThan(50);
  }
});

describe('a mistyped key', () => {
  it('a mistyped key is recognised without a look-up, whichever character is wrong', () => {
    fc.assert(
      fc.property(fc.nat(48), fc.constantFrom(...BASE62.split('')), (place, digit) => {
        const { secret } = newApiKeySecret('test');
        const at = 'chk_test_'.length + place;
        fc.pre(secret[at] !== digit);
        return !isWellFormedApiKey(secret.slice(0, at) + digit + secret.slice(at + 1));
      }),
    );
  });

  it('a mistyped key is recognised after two neighbouring characters were swapped', () => {
    const { secret } = newApiKeySecret('test');
    for (let at = 'chk_test_'.length; at < secret.length - 1; at += 1) {
      const swapped = secret.slice(0, at) + secret[at + 1] + secret[at] + secret.slice(at + 2);
      expect(isWellFormedApiKey(swapped)).toBe(swapped === secret);
    }
  });

  it.each(['', 'chk_test_', 'Chk_test_', 'chk_prod_'])(
    'a mistyped key is recognised by its wrong head "%s"',
    (head) => {
      const { secret } = newApiKeySecret('test');
      expect(isWellFormedApiKey(head)).toBe(false);
      if (head !== 'chk_test_') expect(isWellFormedApiKey(head + secret.slice('chk_test_'.length))).toBe(false);
    },
  );

  it('a mistyped key is recognised when it is too long, too short or has a line end', () => {
    const { secret } = newApiKeySecret('live');
    for (const wrong of [`${secret}a`, secret.slice(0, -1), `${secret}\n`, ` ${secret}`]) {
      expect(isWellFormedApiKey(wrong)).toBe(false);
    }
  });
});
