/** Which of the lines of print is the VIN, and what becomes of characters that do not occur in one. */
import { expect, test } from '@jest/globals';
import { findVin } from '../../../src/endpoints/vin.read/find-vin.ts';
import { joinRows } from '../../../src/inference/pipelines/print-rows.ts';
import { printedAt, type Said, spelt } from '../../inference/print-saying.ts';

const VIN = '1M8GDM9AXKP042788';

/** Of lines one below the other. */
const found = (...lines: (readonly Said[])[]) => findVin(joinRows(lines.map((said, y) => printedAt(0, 10 * y, said))));
const textOf = (...lines: (string | readonly Said[])[]) =>
  found(...lines.map((line) => (typeof line === 'string' ? spelt(line) : line)))
    ?.map(({ character }) => character)
    .join('') ?? null;

/** The number with some of its characters replaced. */
const withChanges = (changes: Record<number, Said>): Said[] => spelt(VIN).map((said, place) => changes[place] ?? said);

test.each([
  VIN,
  `*${VIN}*`,
  `VIN: ${VIN}`,
  `VIN:${VIN}`,
  `VIN${VIN}`,
  `V.I.N.: ${VIN}`,
  `VIN No. ${VIN} MADE IN`,
  `FIN ${VIN}`,
  `TYPE: PASSENGER CAR VIN ${VIN}`,
  VIN.replace('K', 'k').replace('P', 'p'),
  `${VIN.slice(0, 8)} ${VIN.slice(8)}`,
  `VIN: ${VIN.slice(0, 3)} ${VIN.slice(3, 9)} ${VIN.slice(9, 11)} ${VIN.slice(11)}`,
])('"%s" holds the VIN', (line) => {
  expect(textOf('GAWR FRT 1050 KG', line, 'MFD BY EXAMPLE')).toBe(VIN);
});

test.each([
  ['sixteen characters', VIN.slice(1)],
  ['eighteen', `${VIN}1`],
  ['a word', 'SAFETYSTANDARDSIN'],
  ['words whose letters look like digits', 'MFDBY EXAMPLEMOTOR'],
  ['several words that have seventeen together', 'GAWR FRT 1050KG 2315'],
  ['a number that is parted by more than a space', `${VIN.slice(0, 8)}-${VIN.slice(8)}`],
  ['no digit at its end', `${VIN.slice(0, 13)}ABCD`],
])('%s are no VIN', (_, line) => {
  expect(textOf(line)).toBeNull();
});

test('without any line there is none', () => {
  expect(findVin([])).toBeNull();
});

test('I, O and Q become what the network itself thought likeliest, as unlikely as it thought it', () => {
  const vin = found(
    withChanges({
      0: { character: 'I', probability: 0.95, others: { l: 0.02, '1': 0.01, L: 0.005 } },
      11: { character: 'O', probability: 0.6, others: { '0': 0.35, Q: 0.04 } },
    }),
  );
  // The small l looks like I and 1, not like its capital.
  expect(vin?.[0]).toMatchObject({ character: '1', probability: 0.01 });
  expect(vin?.[11]).toMatchObject({ character: '0', probability: 0.35 });
});

test('a character of which the network thought none of a VIN is unreadable, and is not guessed', () => {
  const vin = found(withChanges({ 3: { character: 'Q', probability: 0.9, others: { O: 0.1 } } }));
  expect(vin?.[3]).toMatchObject({ character: '?', probability: 0 });
});

test('a number of which more than three characters cannot be read is none', () => {
  const unreadable = { character: 'Q', probability: 0.9 };
  expect(textOf(withChanges({ 1: unreadable, 2: unreadable, 3: unreadable }))).toBe('1???DM9AXKP042788');
  expect(textOf(withChanges({ 1: unreadable, 2: unreadable, 3: unreadable, 4: unreadable }))).toBeNull();
});

test('of two numbers the one with a label counts, else the surer; its check digit has no say', () => {
  const wrongDigit = '1M8GDM9A1KP042788';
  expect(textOf(spelt(VIN, 0.99), spelt(`VIN ${wrongDigit}`, 0.7))).toBe(wrongDigit);
  expect(textOf(spelt(VIN, 0.7), spelt(wrongDigit, 0.9))).toBe(wrongDigit);
});
