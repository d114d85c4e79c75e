import { expect, test } from 'vitest';
import { compare } from '../../../src/endpoints/driver_license.read/compare.ts';

test.each([
  ['address', '1 MAIN ST, ANYTOWN, CA 90000', '1 MAIN ST, ANYTOWN, CA 90000-1234', true],
  ['address', '1 MAIN ST, ANYTOWN, CA 90000', '2 MAIN ST, ANYTOWN, CA 90000', false],
  ['given_names', 'JÖRG', 'JOERG', true],
  ['number', 'A-12 34', 'A1234', true],
  ['categories', 'C', 'B', false],
] as const)('the printed %s "%s" and the coded one "%s" agree: %s', (field, printed, coded, agrees) => {
  expect(compare({ [field]: printed }, { [field]: coded })).toEqual([{ field, agrees }]);
});

test('a name that the zone cuts off agrees with its start', () => {
  expect(compare({ family_name: 'MARLOWE-TEST' }, { family_name: 'MARLOWET' }, 8)).toMatchObject([{ agrees: true }]);
  expect(compare({ family_name: 'MARLOWE' }, { family_name: 'MARLO' }, 8)).toMatchObject([{ agrees: false }]);
});

test('driver_license.read compares only the fields that print and code both have', () => {
  expect(compare({ family_name: 'A', number: null }, { number: '1' })).toEqual([]);
});
