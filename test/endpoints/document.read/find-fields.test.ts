/** Lines of print as a reader returns them → fields. */
import { expect, test } from 'vitest';
import { findFields, type Reading } from '../../../src/endpoints/document.read/find-fields.ts';
import { layOut } from '../../../src/inference/toolkit/text/page-layout.ts';
import { printedAt, spelt } from '../../inference/support/print-saying.ts';

type At = readonly [x: number, y: number, text: string, probability?: number];

const CERTIFICATE: Reading = {
  type: 'registration_certificate',
  hasCodes: true,
  monthFirst: null,
  currency: null,
  imageIndex: 1,
};

/** Lines of characters one unit wide and two high. */
function fieldsOf(lines: readonly At[], reading: Partial<Reading> = {}) {
  const printed = lines.map(([x, y, text, probability]) => printedAt(x, y, spelt(text, probability)));
  return findFields(layOut(printed), { ...CERTIFICATE, ...reading });
}

const valuesOf = (...given: Parameters<typeof fieldsOf>) => fieldsOf(...given).map(({ name, value }) => [name, value]);

test('a field has its printed label, its text, its place and the confidence of its weakest character', () => {
  expect(fieldsOf([[10, 10, 'B 14.03.2022', 0.8]])).toEqual([
    {
      type: 'date',
      name: 'first_registration_date',
      value: '2022-03-14',
      label: 'B',
      text: '14.03.2022',
      confidence: 0.8,
      image_index: 1,
      bbox: { x: 12, y: 10, width: 10, height: 2 },
    },
  ]);
});

test.each(['Make', 'Mak', 'typ', 'Kraftstof', 'D.3Handelsbezeichnung', 'R-Farbe'])(
  'a label in a wrong place is no value: %s',
  (label) => {
    const labels: At[] = [
      [10, 10, 'D.1'],
      [20, 10, label],
    ];
    expect(valuesOf(labels)).toEqual([]);
  },
);

test('a model may have the name of a label, in capitals', () => {
  expect(valuesOf([[10, 10, 'D.3 TIPO']])).toEqual([['model', 'TIPO']]);
  expect(valuesOf([[10, 10, 'D.3 Tipo']])).toEqual([]);
});

test('a value at a cut is doubtful, but not the characters themselves, and seventeen are whole', () => {
  const [make, vin] = [printedAt(10, 10, spelt('D.1 VOLV')), printedAt(10, 14, spelt('E WVWZZZ1KZ6W386752'))];
  const cut = [make, vin].map((line) => ({
    ...line,
    characters: line.characters.map((each, place, all) => ({ ...each, isAtCut: place === all.length - 1 })),
  }));
  expect(findFields(layOut(cut), CERTIFICATE)).toMatchObject([
    { name: 'make', value: 'VOLV', confidence: 0.5 },
    { name: 'vin', confidence: 0.9 },
  ]);
});

test.each<[string, At[]]>([
  ['in the same line', [[10, 10, 'P.2 110 kW']]],
  [
    'to the right',
    [
      [10, 10, 'P.2'],
      [20, 10, '110 kW'],
    ],
  ],
  [
    'below',
    [
      [10, 10, 'P.2'],
      [10, 13, '110 kW'],
    ],
  ],
])('document.read finds the value of a label %s', (_, lines) => {
  expect(fieldsOf(lines)).toMatchObject([{ name: 'power', value: 110, unit: 'kW', label: 'P.2' }]);
});

test.each<[string, At[]]>([
  [
    'too far away',
    [
      [10, 10, 'P.2'],
      [60, 10, '110'],
    ],
  ],
  [
    'behind another code',
    [
      [10, 10, 'P.2'],
      [15, 10, 'P.3'],
      [20, 10, '110'],
    ],
  ],
  ['no value of the field', [[10, 10, 'P.2 abc']]],
])('document.read leaves out what is %s', (_, lines) => {
  expect(valuesOf(lines).map(([field]) => field)).not.toContain('power');
});

test('an address continues in the lines below it, up to the next code or date', () => {
  const lines: At[] = [
    [10, 10, 'C.1.3'],
    [20, 10, 'HAUPTSTR. 12'],
    [20, 13, '12345 MUSTERSTADT'],
    [20, 16, '05.03.2026'],
  ];
  expect(valuesOf(lines)).toEqual([['holder_address', 'HAUPTSTR. 12, 12345 MUSTERSTADT']]);
});

test('a description in a language without labels is not the value', () => {
  const lines: At[] = [
    [10, 10, 'D.1 Mootorsoiduki mark ja nimi'],
    [50, 10, 'TALVERA'],
  ];
  expect(valuesOf(lines)).toEqual([['make', 'TALVERA']]);
});

test('a VIN is read where the network dropped the space after its code', () => {
  expect(valuesOf([[10, 10, 'E7ZZBX2C45N1048215']])).toEqual([['vin', '7ZZBX2C45N1048215']]);
});

test('a VIN needs no label where it is the only one', () => {
  const lines: At[] = [
    [10, 10, 'A'],
    [14, 10, 'XX-TE 2026'],
    [40, 30, '7ZZBX2C45N1048215'],
  ];
  expect(fieldsOf(lines)).toContainEqual(expect.objectContaining({ name: 'vin', label: null }));
  expect(valuesOf([...lines, [40, 40, '7ZZBX2C45N1048216']])).toEqual([['registration_number', 'XX-TE 2026']]);
  expect(valuesOf([...lines.slice(0, 2), [40, 30, '7ZZBX2C45N104821A']])).toEqual([
    ['registration_number', 'XX-TE 2026'],
  ]);
  expect(valuesOf([...lines.slice(0, 2), [40, 30, '7ZZBX2C45N1048215', 0.4]])).toHaveLength(1);
});

test('the value of a box stands indented under its label', () => {
  const lines: At[] = [
    [10, 10, 'A Amtliches Kennzeichen'],
    [18, 14, 'XX - Z- 123'],
  ];
  expect(valuesOf(lines)).toEqual([['registration_number', 'XX - Z- 123']]);
});

test('a label that was misread above larger print is not an address', () => {
  const printed = [
    printedAt(10, 10, spelt('C.1.3 Anschnitt')),
    printedAt(12, 13, spelt('12345 BERLIN'), 3),
    printedAt(12, 17, spelt('HAUPTSTR. 1'), 3),
  ];
  const [address] = findFields(layOut(printed), CERTIFICATE);
  expect(address?.value).toBe('12345 BERLIN, HAUPTSTR. 1');
});

test('the header of a table announces the row below it', () => {
  const lines: At[] = [
    [10, 10, 'Invoice Number'],
    [40, 10, 'Invoice Date'],
    [10, 16, '34278587'],
    [40, 16, '6/18/2017'],
  ];
  expect(valuesOf(lines, { type: 'invoice', hasCodes: false, monthFirst: true })).toEqual([
    ['invoice_number', '34278587'],
    ['issue_date', '2017-06-18'],
  ]);
});

test('document.read reads the amounts of an invoice in the currency that it names', () => {
  const lines: At[] = [
    [10, 10, 'Werkstatt Beispiel GmbH'],
    [10, 20, 'Rechnungsnummer: 2026-00417 Datum: 18.06.2026'],
    [10, 30, 'Netto'],
    [40, 30, '846,30'],
    [10, 33, 'MwSt. 19 %'],
    [40, 33, '160,80'],
    [10, 36, 'Gesamtbetrag'],
    [40, 36, '1.007,10 EUR'],
  ];
  expect(valuesOf(lines, { type: 'invoice', hasCodes: false, currency: 'EUR' })).toEqual([
    ['issuer_name', 'Werkstatt Beispiel GmbH'],
    ['invoice_number', '2026-00417'],
    ['issue_date', '2026-06-18'],
    ['net_amount', 84_630],
    ['tax_amount', 16_080],
    ['total_amount', 100_710],
  ]);
});
