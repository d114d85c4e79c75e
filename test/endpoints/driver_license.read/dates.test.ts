import { expect, test } from 'vitest';
import { centuryOfBirth, findDate, isoDate, thisCentury } from '../../../src/endpoints/driver_license.read/dates.ts';

test.each([
  ['07.09.1991', {}, '1991-09-07'],
  ['07/09/1991 PARIS', {}, '1991-09-07'],
  ['07. 09. 1991', {}, '1991-09-07'],
  ['1991-09-07', {}, '1991-09-07'],
  ['1991.09.07. BUDAPEST', {}, '1991-09-07'],
  ['02/11/1985', { isMonthFirst: true }, '1985-02-11'],
  ['1985/02/11', { isMonthFirst: true }, '1985-02-11'],
  ['21.05.39', { centuryOf: thisCentury }, '2039-05-21'],
  ['21.05.87', { centuryOf: centuryOfBirth(2024) }, '1987-05-21'],
  ['21.05.05', { centuryOf: centuryOfBirth(2024) }, '2005-05-21'],
  ['21.05.11', { centuryOf: centuryOfBirth(2024) }, '1911-05-21'],
  ['2021-AUG-12', {}, '2021-08-12'],
  ['2021-AVG-12', {}, null],
  ['29.02.2023', {}, null],
  ['21.05.39', {}, null],
  ['31.02.2020', {}, null],
  ['02/13/1985', {}, null],
])('driver_license.read reads %s (%j) as %s', (text, order, iso) => {
  expect(findDate(text, order)?.iso).toBe(iso);
});

test('driver_license.read finds the first of several dates, with its place', () => {
  expect(findDate('B 02.10.2005 21.05.2039')).toEqual({ iso: '2005-10-02', from: 2, to: 12 });
});

test.each(['VALBRUN', '12.5', '123456789', ''])('driver_license.read finds no date in "%s"', (text) => {
  expect(findDate(text)).toBeNull();
});

test('driver_license.read knows no day before 1900 or beyond the end of a month', () => {
  expect([isoDate('1899', '12', '31'), isoDate('2023', '02', '29'), isoDate('2024', '02', '29')]).toEqual([
    null,
    null,
    '2024-02-29',
  ]);
});
