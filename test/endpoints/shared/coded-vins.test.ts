/** VINs among the contents of codes. */
import { expect, test } from 'vitest';
import { findCodedVins } from '../../../src/endpoints/shared/coded-vins.ts';

const VIN = '1M8GDM9AXKP042788';
const corner = { x: 0, y: 0 };
const quad = [corner, corner, corner, corner] as const;
const found = (...texts: string[]) =>
  findCodedVins(
    texts.map((text) => ({ symbology: 'code_39', content: { text, bytes: new TextEncoder().encode(text) }, quad })),
  ).map(({ text }) => text);

test.each([
  VIN,
  `I${VIN}`,
  `VIN${VIN}`,
  `VIN: ${VIN}`,
  VIN.toLowerCase(),
  `https://example.com/?vin=${VIN}&colour=C9A`,
  `${VIN}    J7A  0123456`,
  `PAINT C9A\u001D${VIN}\u001D42`,
])('"%s" holds the VIN', (text) => {
  expect(found(text)).toEqual([VIN]);
});

test.each([
  ['sixteen characters', VIN.slice(1)],
  ['eighteen', `${VIN}1`],
  ['eighteen that begin with a letter', `A${VIN}`],
  ['seventeen digits', '12345678901234567'],
  ['letters at its end', `${VIN.slice(0, 13)}ABCD`],
  ['nothing', ''],
])('a code with %s holds no VIN', (_, text) => {
  expect(found(text)).toEqual([]);
});

test('a VIN that two codes hold is reported once', () => {
  expect(found(VIN, `I${VIN}`, 'WVWZZZ1JZXW000001')).toEqual([VIN, 'WVWZZZ1JZXW000001']);
});

test('a code without content holds no VIN', () => {
  expect(findCodedVins([{ symbology: 'qr', content: null, quad }])).toEqual([]);
});
