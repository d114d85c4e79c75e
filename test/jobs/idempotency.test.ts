import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../src/jobs/idempotency.ts';

const hex = (payload: unknown) => fingerprint(payload).toString('hex');

describe('two payloads with one fingerprint', () => {
  it('two payloads have one fingerprint when only the order of fields differs, at any depth', () => {
    expect(hex({ a: 1, b: { c: [1, 2], d: null } })).toBe(hex({ b: { d: null, c: [1, 2] }, a: 1 }));
  });

  it('two payloads have one fingerprint when one omits a field that is undefined in the other', () => {
    expect(hex({ a: 1, b: undefined })).toBe(hex({ a: 1 }));
  });

  it('two payloads have one fingerprint when they are equal', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => hex(value) === hex(JSON.parse(JSON.stringify(value)))));
  });
});

describe('two payloads with different fingerprints', () => {
  it.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: null }, {}],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: [] }, { a: {} }],
    [{ a: { b: 1 }, c: 1 }, { a: { b: 1, c: 1 } }],
    [{ 'a":1,"b': 1 }, { a: 1, b: 1 }],
    [['a', 'b'], ['a,b']],
    ['', null],
    [true, 'true'],
  ])('the payloads %j and %j have different fingerprints', (one, other) => expect(hex(one)).not.toBe(hex(other)));

  it('two payloads have different fingerprints when their JSON differs', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 2, maxLength: 2 }), ([one, other]) => {
        fc.pre(canonical(one) !== canonical(other));
        return hex(one) !== hex(other);
      }),
    );
  });
});

it('a fingerprint is a SHA-256 and reveals nothing of the payload', () => {
  expect(fingerprint({ name: 'Erika Mustermann' })).toHaveLength(32);
});

/** Written another way than the code under test: fields as sorted entries. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) =>
    field !== null && typeof field === 'object' && !Array.isArray(field)
      ? { entries: Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)) }
      : field,
  );
}
