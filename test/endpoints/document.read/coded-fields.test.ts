/** Contents of codes, composed as their standards have them. */
import { expect, test } from 'vitest';
import { fieldsOfCodes } from '../../../src/endpoints/document.read/coded-fields.ts';
import type { FoundCode } from '../../../src/inference/toolkit/codes/read-codes.ts';

const code = (text: string | null): FoundCode => ({
  symbology: 'qr',
  content: text === null ? null : { text, bytes: new Uint8Array() },
  quad: [
    { x: 10, y: 20 },
    { x: 30, y: 20 },
    { x: 30, y: 40 },
    { x: 10, y: 40 },
  ],
});
const fieldsOf = (text: string | null, type: Parameters<typeof fieldsOfCodes>[1] = 'invoice') =>
  fieldsOfCodes([code(text)], type, 2);
const valuesOf = (...given: Parameters<typeof fieldsOf>) => fieldsOf(...given).map(({ name, value }) => [name, value]);

const SEPA = [
  'BCD',
  '002',
  '1',
  'SCT',
  '',
  'Werkstatt Beispiel GmbH',
  'DE00500105170123456789',
  'EUR1007.10',
  '',
  '',
  '',
];
const CREDITOR = ['S', 'Garage Beispiel AG', 'Dorfstrasse', '1', '8000', 'Zürich', 'CH'];
const ULTIMATE_CREDITOR = Array<string>(7).fill('');
const SWISS = ['SPC', '0200', '1', 'CH4431999123000889012', ...CREDITOR, ...ULTIMATE_CREDITOR, '846.30', 'CHF'];
const PORTUGUESE =
  'A:123456789*B:999999990*C:PT*D:FT*E:N*F:20260618*G:FT A/35*H:0*I1:PT*I7:100.00*I8:23.00*N:23.00*O:123.00*Q:abcd*R:9999';

test.each([
  [
    'a SEPA transfer',
    SEPA.join('\n'),
    [
      ['issuer_name', 'Werkstatt Beispiel GmbH'],
      ['total_amount', 100_710],
    ],
  ],
  [
    'a Swiss QR-bill',
    SWISS.join('\r\n'),
    [
      ['issuer_name', 'Garage Beispiel AG'],
      ['total_amount', 84_630],
    ],
  ],
  [
    'a Portuguese invoice',
    PORTUGUESE,
    [
      ['invoice_number', 'FT A/35'],
      ['issue_date', '2026-06-18'],
      ['tax_amount', 2300],
      ['total_amount', 12_300],
    ],
  ],
])('document.read reads the code of %s', (_, text, values) => {
  expect(valuesOf(text)).toEqual(values);
});

test('a field of a code has the box of the code and what is encoded', () => {
  expect(fieldsOf(SEPA.join('\n')).at(-1)).toEqual({
    type: 'money',
    name: 'total_amount',
    value: 100_710,
    currency: 'EUR',
    label: null,
    text: '1007.10',
    confidence: 0.99,
    image_index: 2,
    bbox: { x: 10, y: 20, width: 20, height: 20 },
  });
});

test.each([
  ['another version', SEPA.join('\n').replace('002', '003')],
  ['another service', SWISS.join('\n').replace('SPC', 'SPX')],
  ['a currency that bills do not have', SWISS.join('\n').replace('CHF', 'USD')],
  ['a code that was cut off', SEPA.slice(0, 5).join('\n')],
  ['a Portuguese code without its total', PORTUGUESE.slice(0, PORTUGUESE.indexOf('*O:'))],
  ['an address', 'https://example.com/?A:123456789*B:1*O:2'],
  ['a code that cannot be decoded', null],
])('document.read reads nothing from %s', (_, text) => {
  expect(valuesOf(text)).toEqual([]);
});

test.each([
  ['a day that does not exist', PORTUGUESE.replace('20260618', '20260231'), 'issue_date'],
  ['an amount that is none', PORTUGUESE.replace('N:23.00', 'N:23,00'), 'tax_amount'],
])('document.read leaves out %s of a code', (_, text, name) => {
  expect(valuesOf(text).map(([field]) => field)).not.toContain(name);
});

test('a payment code says nothing about a registration certificate, a VIN does', () => {
  expect(valuesOf(SEPA.join('\n'), 'registration_certificate')).toEqual([]);
  expect(valuesOf('7ZZBX2C45N1048215', 'registration_certificate')).toEqual([['vin', '7ZZBX2C45N1048215']]);
});
