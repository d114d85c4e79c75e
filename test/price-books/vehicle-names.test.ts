/** Names of makes as requests and files write them. */
import { expect, it } from 'vitest';
import { makeKey } from '../../src/price-books/vehicle-names.ts';

it.each([
  ['Mercedes-Benz', 'mercedesbenz'],
  ['MERC', 'mercedesbenz'],
  ['Constructor', 'constructor'],
])('the make %s is known as %s', (make, key) => {
  expect(makeKey(make)).toBe(key);
});
