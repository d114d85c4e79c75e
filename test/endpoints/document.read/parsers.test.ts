import { expect, test } from 'vitest';
import { FIELD_RULES, type FieldName } from '../../../src/endpoints/document.read/field-rules.ts';
import { onlyCurrency, parseAmount } from '../../../src/endpoints/document.read/parse-amount.ts';
import { monthFirstOf, parseDate } from '../../../src/endpoints/document.read/parse-date.ts';
import { parseValue } from '../../../src/endpoints/document.read/parse-field.ts';
import { printedAt, spelt } from '../../inference/support/print-saying.ts';

test.each([
  ['14.03.2022', null, '2022-03-14'],
  ['14.3.22', null, '2022-03-14'],
  ['01.05.98', null, '1998-05-01'],
  ['14/03/2022', null, '2022-03-14'],
  ['03/14/2022', null, '2022-03-14'],
  ['03/04/2022', false, '2022-04-03'],
  ['03/04/2022', true, '2022-03-04'],
  ['03/04/2022', null, null],
  ['04/04/2022', null, '2022-04-04'],
  ['2022-03-14', null, '2022-03-14'],
  ['visite avant le 14/03/2026', null, '2026-03-14'],
  ['14 03 2022', null, '2022-03-14'],
  ['14 MAR 2022', null, '2022-03-14'],
  ['14 août 2022', null, '2022-08-14'],
  ['März 14, 2022', null, '2022-03-14'],
  ['31.02.2022', null, null],
  ['29.02.2023', null, null],
  ['00.13.2022', null, null],
  ['2022-13-01', null, null],
  ['14.03.1822', null, null],
  ['2022', null, null],
])('document.read parses the date "%s", month first %s, as %s', (text, monthFirst, date) => {
  expect(parseDate(text, monthFirst)?.value ?? null).toBe(date);
});

test.each([
  [['03/04/2022', '27/05/2022'], false],
  [['03/04/2022', '05/27/2022'], true],
  [['03/04/2022'], null],
  [['27/05/2022', '05/27/2022'], null],
  [['27.05.2022'], null],
])('document.read learns the order of day and month from %j', (texts, monthFirst) => {
  expect(monthFirstOf(texts)).toBe(monthFirst);
});

test.each([
  ['1.234,56', { minor: 123_456, currency: null }],
  ['1,234.56', { minor: 123_456, currency: null }],
  ['1 234,56 €', { minor: 123_456, currency: 'EUR' }],
  ["CHF 1'234.50", { minor: 123_450, currency: 'CHF' }],
  ['£12.00', { minor: 1200, currency: 'GBP' }],
  ['CHF 120.-', { minor: 12_000, currency: 'CHF' }],
  ['1.234 EUR', { minor: 123_400, currency: 'EUR' }],
  ['2 x 10,00 20,00 zł', { minor: 2000, currency: 'PLN' }],
  ['$ 45.10', { minor: 4510, currency: null }],
  ['1.234.56', null],
  ['19 %', null],
  ['19,00 %', null],
  ['417', null],
])('document.read parses the amount "%s" as %j', (text, amount) => {
  expect(parseAmount(text)?.value ?? null).toEqual(amount);
});

test.each([
  [['12,00 EUR', '€ 4,00'], 'EUR'],
  [['12,00 EUR', '£ 4.00'], null],
  [['12,00'], null],
])('document.read names the only currency of %j: %s', (texts, currency) => {
  expect(onlyCurrency(texts)).toBe(currency);
});

const parsed = (name: FieldName, text: string) =>
  parseValue(FIELD_RULES[name], printedAt(0, 0, spelt(text)).characters, { monthFirst: false, currency: null })?.typed;

test.each<[FieldName, string, unknown]>([
  ['vin', 'WVWZZZ1JZXW000001', 'WVWZZZ1JZXW000001'],
  ['vin', 'WVWZZZ 1JZXW000001 7', 'WVWZZZ1JZXW000001'],
  ['vin', 'WVWZZZ1JZXW00000', undefined],
  ['vin', 'WVWZZZ1JZXWABCDE1', undefined],
  ['vin', 'IVWZZZ1JZXW000001', undefined],
  ['registration_number', 'B-AB 1234', 'B-AB 1234'],
  ['registration_number', 'AB-123-CD', 'AB-123-CD'],
  ['registration_number', 'XX - Z- 123', 'XX - Z- 123'],
  ['registration_number', 'Certificate', undefined],
  ['registration_number', 'ABCDEF', undefined],
  ['vehicle_category', 'M1', 'M1'],
  ['vehicle_category', 'M1G 4', 'M1G'],
  ['vehicle_category', 'MOTOR', undefined],
  ['type_approval_number', 'e1*2007/46*0627*12', 'e1*2007/46*0627*12'],
  ['power', '110 kW', 110],
  ['power', '00110/05500', 110],
  ['power', '150 PS', undefined],
  ['engine_displacement', '1.598 cm3', 1598],
  ['engine_displacement', '01598', 1598],
  ['unladen_mass', '1 420 kg', 1420],
  ['seats', '30 Leergewicht', undefined],
  ['seats', '120', undefined],
  ['odometer', '48.210 km', 48_210],
  ['invoice_number', '2026-00417', '2026-00417'],
  ['invoice_number', '21 Marke', undefined],
  ['make', '0PEL', 'OPEL'],
  ['fuel_type', '----', undefined],
])('document.read types %s "%s" as %j', (name, text, value) => {
  expect(parsed(name, text)?.value).toEqual(value);
});

test('document.read reads a letter that no VIN has as the likeliest one that a VIN may have, with its probability', () => {
  const said = spelt('WVWZZZ1JZXW000001').map((each, index) =>
    index === 13 ? { character: 'O', probability: 0.6, others: { '0': 0.3 } } : each,
  );
  const value = parseValue(FIELD_RULES.vin, printedAt(0, 0, said).characters, { monthFirst: null, currency: null });
  expect(value?.typed.value).toBe('WVWZZZ1JZXW000001');
  expect(value?.characters[13]?.probability).toBe(0.3);
});
