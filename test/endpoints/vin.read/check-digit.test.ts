import { expect, test } from '@jest/globals';
import { array, assert, constantFrom, property } from 'fast-check';
import { checkDigit } from '../../../src/endpoints/vin.read/check-digit.ts';

const characters = array(constantFrom(...Array.from('ABCDEFGHJKLMNPRSTUVWXYZ0123456789')), {
  minLength: 17,
  maxLength: 17,
});
const DIGITS = Array.from('0123456789X');

test.each([
  // Published examples, worked out in many places.
  ['1M8GDM9AXKP042788', 'X'],
  ['1G4AH59H45G118341', '4'],
  ['11111111111111111', '1'],
  ['5GZCZ43D13S812715', '1'],
])('%s agrees with its check digit %s', (vin, digit) => {
  expect(checkDigit(vin)).toEqual({ found: digit, expected: digit, valid: true });
});

test('a VIN with one character changed disagrees', () => {
  expect(checkDigit('1M8GDM9AXKP042789')).toEqual({ found: 'X', expected: '1', valid: false });
});

test('of all check digits exactly the expected one is valid', () => {
  assert(
    property(characters, (vin) => {
      const valid = DIGITS.filter((digit) => checkDigit(vin.with(8, digit).join('')).valid);
      expect(valid).toEqual([checkDigit(vin.join('')).expected]);
    }),
  );
});

test('an unknown character leaves open what depends on it', () => {
  expect(checkDigit('1M8GDM9A?KP042788')).toEqual({ found: null, expected: 'X', valid: null });
  expect(checkDigit('1M8GDM9AXKP0427?8')).toEqual({ found: 'X', expected: null, valid: null });
  // I, O and Q are not characters of a VIN.
  expect(checkDigit('1M8GDM9AXKPO42788')).toEqual({ found: 'X', expected: null, valid: null });
});

test('a letter that can be no check digit is found and not valid', () => {
  expect(checkDigit('1M8GDM9AAKP042788')).toEqual({ found: 'A', expected: 'X', valid: false });
});

test('another length is a mistake of the caller', () => {
  expect(() => checkDigit('1M8GDM9AXKP04278')).toThrow(new RangeError('a VIN has 17 characters, this one 16'));
});
