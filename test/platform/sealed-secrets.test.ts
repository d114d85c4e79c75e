/** A sealed secret opens only with its key and its purpose. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealedSecrets } from '../../src/platform/sealed-secrets.ts';

const sealed = createSealedSecrets(['first key']);

describe('a sealed secret', () => {
  it('a sealed secret opens to the same text, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (secret, purpose) => {
        expect(sealed.open(sealed.seal(secret, purpose), purpose)).toBe(secret);
      }),
    );
  });

  it('a sealed secret is a different text each time and does not contain the secret', () => {
    const texts = Array.from({ length: 100 }, () => sealed.seal('whsec_secret', 'test'));
    expect(new Set(texts).size).toBe(100);
    for (const text of texts) {
      expect(text).not.toContain('whsec_secret');
      const [, , content = ''] = text.split('.');
      expect(Buffer.from(content, 'base64url').toString('latin1')).not.toContain('whsec_secret');
    }
  });

  it('a sealed secret does not open for another purpose', () => {
    expect(() => sealed.open(sealed.seal('secret', 'one'), 'another')).toThrow();
  });

  it('a sealed secret does not open when any character of it was changed', () => {
    const text = sealed.seal('secret', 'test');
    for (let place = 0; place < text.length; place += 1) {
      const character = text[place] === 'A' ? 'Q' : 'A';
      const changed = text.slice(0, place) + character + text.slice(place + 1);
      expect(() => sealed.open(changed, 'test')).toThrow();
    }
  });

  it.each(['', 'sealed1', 'sealed1..', 'whsec_secret', 'sealed1.00000000.AAAA'])(
    '%j is not a sealed secret',
    (text) => {
      expect(() => sealed.open(text, 'test')).toThrow();
    },
  );

  it('a sealed secret does not open with another key', () => {
    expect(() => createSealedSecrets(['second key']).open(sealed.seal('secret', 'test'), 'test')).toThrow(
      'not configured',
    );
  });

  it('a sealed secret still opens when a new key is put before its own, and the new key seals', () => {
    const both = createSealedSecrets(['second key', 'first key']);
    expect(both.open(sealed.seal('old', 'test'), 'test')).toBe('old');
    const fresh = both.seal('new', 'test');
    expect(createSealedSecrets(['second key']).open(fresh, 'test')).toBe('new');
    expect(() => sealed.open(fresh, 'test')).toThrow('not configured');
  });
});

it('sealing needs a key', () => {
  expect(() => createSealedSecrets([])).toThrow();
});
