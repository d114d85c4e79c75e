/** The rules admit the sizes that are sold and refuse those that a misread digit makes. */
import { expect, test } from 'vitest';
import { isPlausibleLoad, isPlausibleSize } from '../../../src/endpoints/tire.read/plausible-sizes.ts';
import { serviceAt } from '../../../src/endpoints/tire.read/sidewall-text.ts';
import { findSize } from '../../../src/endpoints/tire.read/size-text.ts';

function judged(text: string): { size: boolean; load: boolean } {
  const size = findSize(text);
  if (!size) throw new Error(`${text} is no size`);
  const service = serviceAt(text, size.end, { isAlone: false });
  return { size: isPlausibleSize(size), load: service !== null && isPlausibleLoad(size, service.load.value) };
}

test.each([
  '135/80R13 70T',
  '155/65R14 75T',
  '175/70R13 82T',
  '175/65R14 82T',
  '195/65R15 91V',
  '195/65R15 95H',
  'P205/55R16 91V',
  '205/50R17 93W',
  '225/45ZR17 94Y',
  '235/75R15 105T',
  '255/35R19 96Y',
  '255/55R18 109V',
  '265/70R16 112S',
  '275/30R20 97Y',
  '315/35R20 110W',
  '315/30R22 107Y',
  '155/70R19 88Q',
  '195/70R15C 104/102R',
  '235/65R16C 121/119R',
  'LT235/85R16 120/116R',
  'LT315/70R17 121/118Q',
  'T125/70D16 96M',
  'T155/60R18 107M',
  '315/70R22.5 156/150L',
  '385/65R22.5 164K',
  '215/75R17.5 126/124M',
  '120/70R17 58W',
  '190/50R17 73W',
  '31X10.50R15LT 109Q',
])('tires are made in the size and load %s', (text) => {
  expect(judged(text)).toEqual({ size: true, load: true });
});

test.each([
  ['too small a wheel', '145/25R10 75T'],
  ['too large a wheel', '355/85R24 91V'],
  ['hardly any sidewall', '175/25R18 82T'],
  ['too narrow for its rim', '115/60R20 91V'],
])('no tire is made with this fault: %s, as in %s', (_, text) => {
  expect(judged(text).size).toBe(false);
});

test.each([
  ['205/55R16 61V', 'a load of a smaller tire'],
  ['205/55R16 81V', 'a load of a smaller tire'],
  ['205/55R16 111V', 'a load of a truck'],
  ['195/70R15C 91R', 'a load without the load range of a van'],
  ['225/45R17 121W', 'a load of a truck'],
])('the size and load %s belong to no tire: %s', (text) => {
  expect(judged(text)).toEqual({ size: true, load: false });
});
