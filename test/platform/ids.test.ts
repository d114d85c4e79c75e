import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstIdAt, ID_PREFIXES, type IdKind, isId, newId, randomToken } from '../../src/platform/ids.ts';

const kinds = Object.keys(ID_PREFIXES) as IdKind[];

describe('a new id', () => {
  it.each(kinds)('a new id of a %s has its prefix and 22 base58 characters', (kind) => {
    const id = newId(kind);
    expect(id.slice(0, ID_PREFIXES[kind].length)).toBe(ID_PREFIXES[kind]);
    expect(id.slice(ID_PREFIXES[kind].length)).toMatch(/^[1-9A-HJ-NP-Za-km-z]{22}$/);
    expect(isId(kind, id)).toBe(true);
  });

  it('a new id of a job has the form of the specification', () => {
    expect(newId('job')).toMatch(/^job_[1-9A-HJ-NP-Za-km-z]{8,32}$/);
  });

  it('a new id sorts after every earlier id, compared as bytes', () => {
    const ids = Array.from({ length: 5_000 }, () => newId('job'));
    expect(ids.toSorted()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

it('an id lies between the first id of its millisecond and that of a later one', () => {
  const before = new Date();
  const id = newId('job');
  // The ids of a burst may be a few milliseconds ahead.
  const after = new Date(Date.now() + 1_000);
  expect(firstIdAt('job', before) <= id).toBe(true);
  expect(id < firstIdAt('job', after)).toBe(true);
  expect(isId('job', firstIdAt('job', before))).toBe(true);
});

describe('isId', () => {
  it('isId refuses the ids of every other kind', () => {
    for (const kind of kinds) {
      for (const other of kinds) expect(isId(kind, newId(other))).toBe(kind === other);
    }
  });

  it.each(['', 'job_', 'job_1234567', `job_${'1'.repeat(33)}`, 'job_0OIl0OIl', 'job_11111111\n', ' job_11111111'])(
    'isId refuses %j',
    (text) => expect(isId('job', text)).toBe(false),
  );

  it('isId never throws, whatever the argument', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof isId('job', text) === 'boolean'));
  });
});

it('no prefix of ids is the beginning of another', () => {
  const prefixes = Object.values(ID_PREFIXES);
  for (const prefix of prefixes) {
    expect(prefixes.filter((other) => other.startsWith(prefix))).toEqual([prefix]);
  }
});

it('a random token has the requested bytes and never repeats', () => {
  expect(Buffer.from(randomToken(24), 'base64url')).toHaveLength(24);
  expect(randomToken()).not.toBe(randomToken());
});
