import { array, assert, constantFrom, property } from 'fast-check';
import { expect, test } from 'vitest';
import { checkDigit } from '../../../src/endpoints/vin.read/check-digit.ts';

const characters = array(constantFrom(...Array.from('ABCDEFGHJKLMNPRSTUVWXYZ0123456789')), {
  minLength: 17,
  maxLength: 17,
});
const DIGITS = Array.from('0123456789X');

test.each([
  // Widely published examples.
  ['1M8GDM9AXKP042788', 'X'],
  ['1G4AH59H45G118341', '4'],
  ['11111111111111111', '1'],
  ['5GZCZ43D13S812715', '1'],
])('%s agrees with its check digit %s', (vin, digit) => {
  expect(checkDigit(vin)).toEqual({ found: digit, expected: digit, valid: true });
});

test('a VIN disagrees with its check digit after one character changes', () => {
  expect(checkDigit('1M8GDM9AXKP042789')).toEqual({ found: 'X', expected: '1', valid: false });
});

test('a VIN accepts exactly one check digit', () => {
  assert(
    property(characters, (vin) => {
      const valid = DIGITS.filter((digit) => checkDigit(vin.with(8, digit).join('')).valid);
      expect(valid).toEqual([checkDigit(vin.join('')).expected]);
    }),
  );
});

test('the values of a check digit that depend on an unknown character are null', () => {
  expect(checkDigit('1M8GDM9A?KP042788')).toEqual({ found: null, expected: 'X', valid: null });
  expect(checkDigit('1M8GDM9AXKP0427?8')).toEqual({ found: 'X', expected: null, valid: null });
  // I, O and Q are not VIN characters.
  expect(checkDigit('1M8GDM9AXKPO42788')).toEqual({ found: 'X', expected: null, valid: null });
});

test('a letter that cannot be a check digit is invalid', () => {
  expect(checkDigit('1M8GDM9AAKP042788')).toEqual({ found: 'A', expected: 'X', valid: false });
});

test('the check digit of a VIN of another length throws a RangeError', () => {
  expect(() => checkDigit('1M8GDM9AXKP04278')).toThrow(new RangeError('a VIN has 17 characters, this one 16'));
});
