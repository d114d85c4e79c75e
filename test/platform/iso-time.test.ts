import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseIsoTime } from '../../src/platform/iso-time.ts';

it.each([
  ['2026-12-01', '2026-12-01T00:00:00.000Z'],
  ['2026-12-01T09:30:00Z', '2026-12-01T09:30:00.000Z'],
  ['2026-12-01T09:30:00+01:00', '2026-12-01T08:30:00.000Z'],
  ['2026-12-01T09:30:00.250Z', '2026-12-01T09:30:00.250Z'],
])('the time %s is read as %s', (text, time) => {
  expect(parseIsoTime(text)?.toISOString()).toBe(time);
});

it.each(['', 'today', '2026-12', '2026-02-30', '2026-12-01T09:30', '2026-12-01T25:00:00Z', '2026-12-01T09:30:00.Z'])(
  '%j is refused as a time',
  (text) => {
    expect(parseIsoTime(text)).toBeNull();
  },
);

it('every printed time is accepted', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (time) => {
      expect(parseIsoTime(time.toISOString())).toEqual(time);
    }),
  );
});
