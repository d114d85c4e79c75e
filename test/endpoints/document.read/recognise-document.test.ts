import { expect, test } from 'vitest';
import { recogniseCountry, recogniseType } from '../../../src/endpoints/document.read/recognise-document.ts';

test.each([
  [['Zulassungsbescheinigung Teil I'], 'registration_certificate'],
  [['CERTIFICATE', 'OF TITLE'], 'title'],
  [['RECHNUNG', 'Rechnungsnummer 17'], 'invoice'],
  [['REGISTRACIJOS LIUDIJIMAS'], 'registration_certificate'],
  [['Osvedčenie o evidencii'], 'registration_certificate'],
  [['REGISTREERIMISTUNNISTUS'], 'registration_certificate'],
  [['International Motor Insurance Card'], 'insurance_card'],
  [['Kostenvoranschlag'], 'repair_estimate'],
  [['A 12', 'D.1 X', 'D.2 Y', 'P.2 110'], 'registration_certificate'],
  [['MENU', 'Soup of the day'], null],
])('document.read recognises %j as %s', (texts, type) => {
  expect(recogniseType(texts, undefined)?.value ?? null).toBe(type);
});

test('two types alike are none, unless the hint names one of them', () => {
  const texts = ['Certificate of title', 'Bill of sale'];
  expect(recogniseType(texts, undefined)).toBeNull();
  expect(recogniseType(texts, 'purchase_contract')?.value).toBe('purchase_contract');
  expect(recogniseType(texts, 'invoice')).toBeNull();
});

test('a hint changes nothing where the print is clear', () => {
  expect(recogniseType(['Certificate of title'], 'invoice')?.value).toBe('title');
  expect(recogniseCountry(['Carta di circolazione', 'Repubblica Italiana'], 'CH')?.value).toBe('IT');
});

test.each([
  [['Zulassungsbescheinigung', 'Bundesrepublik Deutschland'], undefined, 'DE'],
  [['Zulassungsbescheinigung', 'Republik Österreich'], undefined, 'AT'],
  [['Zulassungsbescheinigung'], undefined, null],
  [['Zulassungsbescheinigung'], 'AT', 'AT'],
  [['Zulassungsbescheinigung'], 'FR', null],
  [["CERTIFICAT D'IMMATRICULATION"], undefined, 'FR'],
  [['Carta di circolazione'], undefined, 'IT'],
  [['Permis de circulation', 'Fahrzeugausweis'], undefined, 'CH'],
  [['V5C'], undefined, 'GB'],
  [['USt-IdNr. DE123456789'], undefined, 'DE'],
  [['LIETUVOS RESPUBLIKA'], undefined, 'LT'],
  [['Slovenská republika'], undefined, 'SK'],
  [['TOTAL 12.00'], 'DE', null],
])('document.read recognises the country of %j with the hint %s as %s', (texts, hint, country) => {
  expect(recogniseCountry(texts, hint)?.value ?? null).toBe(country);
});
