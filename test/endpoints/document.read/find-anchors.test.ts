import { expect, test } from 'vitest';
import { CODES, FIELD_RULES, SWISS_NUMBERS } from '../../../src/endpoints/document.read/field-rules.ts';
import { codeAtStart, findAnchors } from '../../../src/endpoints/document.read/find-anchors.ts';

test.each([
  ['D.1 TALVERA', 'D.1'],
  ['(D.1)', 'D.1'],
  ['[A] AB-123-CD', 'A'],
  ['B: 14.03.2022', 'B'],
  ['C.1.1', 'C.1.1'],
  ['C11', 'C.1.1'],
  ['E7ZZBX2C45N1048215', 'E'],
  ['E7ZZBX2C45N104821', undefined],
  ['P,2 110', 'P.2'],
  ['D.9 TALVERA', 'D.9'],
  ['D1ESEL', undefined],
  ['BMW', undefined],
  ['l', 'I'],
  ['|', 'I'],
  ['1 04/12/2009', 'I'],
  ['l 2019-05-14', 'I'],
  ['1', undefined],
  ['1 2 3', undefined],
  ['lumo', undefined],
])('the text "%s" starts with the code %s', (text, code) => {
  expect(codeAtStart(text)?.code).toBe(code);
});

test('every code names a field that exists', () => {
  const names = Object.values(CODES).flatMap((meaning) => meaning?.name ?? []);
  expect(Object.keys(FIELD_RULES)).toEqual(expect.arrayContaining(names));
});

const anchorsOf = (text: string, hasCodes = true) =>
  findAnchors(text, 'registration_certificate', hasCodes).map(({ rule, label, start, end }) => [
    rule?.name ?? null,
    label,
    text.slice(end, end + 4),
    start,
  ]);

test('document.read finds several codes in one line', () => {
  expect(anchorsOf('P.1 1598 P.2 110 P.6 5')).toEqual([
    ['engine_displacement', 'P.1', ' 159', 0],
    ['power', 'P.2', ' 110', 9],
    [null, 'P.6', ' 5', 17],
  ]);
});

test('document.read skips the description after a code', () => {
  expect(anchorsOf('B Data pierwszej rejestracji 2019-05-14')).toEqual([['first_registration_date', 'B', '2019', 0]]);
});

test('document.read does not take the first letter of a sentence for a code', () => {
  expect(anchorsOf('A person must carry it')).toEqual([]);
});

test.each([
  ['Erstzulassung: 14.03.2022', 'first_registration_date', 'Erstzulassung'],
  ['DATE OF FIRST REGISTRATI0N 14', 'first_registration_date', 'DATE OF FIRST REGISTRATI0N'],
  ['Numéro d’immatriculation AB', 'registration_number', 'Numéro d’immatriculation'],
  ['26 Farbe / Couleur / Colore GRAU', 'color', 'Farbe / Couleur / Colore'],
])('document.read finds the label of "%s"', (text, name, label) => {
  expect(anchorsOf(text, false)).toEqual([[name, label, expect.any(String), expect.any(Number)]]);
});

test.each([
  ['C.1.1 Pavardė NOWAK', 'holder_name'],
  ['A Evidenčné číslo vozidla BA 123', 'registration_number'],
  ['B Datum för första registrering 2019', 'first_registration_date'],
  ['E Alvázszám 7ZZB', 'vin'],
])('document.read skips the description in a further language of the EU: %s', (text, name) => {
  const [anchor] = findAnchors(text, 'registration_certificate', true);
  expect(anchor?.rule?.name).toBe(name);
  expect(text.slice(anchor?.end).trim()).toMatch(/^(?:NOWAK|BA 123|2019|7ZZB)$/);
});

test('numbers announce fields only where a country numbers them', () => {
  const names = (text: string, numbers = {}) =>
    findAnchors(text, 'registration_certificate', false, numbers).map(({ rule }) => rule?.name);
  expect(names('23', SWISS_NUMBERS)).toEqual(['vin']);
  expect(names('37 Zylinderinhalt 1598', SWISS_NUMBERS)).toEqual(['engine_displacement']);
  expect(names('23')).toEqual([]);
  expect(names('1598', SWISS_NUMBERS)).toEqual([]);
});

test('a label inside a number is none', () => {
  expect(anchorsOf('KM-220-XE', false)).toEqual([]);
});

test('labels of invoices announce nothing in a registration certificate', () => {
  expect(findAnchors('Total 12,00', 'invoice', false)).toHaveLength(1);
  expect(findAnchors('Total 12,00', 'registration_certificate', false)).toEqual([]);
});
