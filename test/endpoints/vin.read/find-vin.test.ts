/** Finding the VIN among text lines, and replacing characters that a VIN never contains. */
import { expect, test } from 'vitest';
import { findVin } from '../../../src/endpoints/vin.read/find-vin.ts';
import { joinRows } from '../../../src/inference/toolkit/text/print-rows.ts';
import { printedAt, type Said, spelt } from '../../inference/support/print-saying.ts';

const VIN = '1M8GDM9AXKP042788';

/** From lines below one another. */
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
  `X${VIN}X`,
  `VIN: ${VIN}`,
  `VIN:${VIN}`,
  `VIN${VIN}`,
  `V.I.N.: ${VIN}`,
  `VIN No. ${VIN} MADE IN`,
  `FIN ${VIN}`,
  `E${VIN}`,
  `TYPE: PASSENGER CAR VIN ${VIN}`,
  VIN.replace('K', 'k').replace('P', 'p'),
  `${VIN.slice(0, 8)} ${VIN.slice(8)}`,
  `${VIN.slice(0, 11)} ${VIN.slice(11, 14)} ${VIN.slice(14, 16)} ${VIN.slice(16)}`,
  `${VIN.slice(0, 7).split('').join(' ')} ${VIN.slice(7, 10)} ${VIN.slice(10).split('').join(' ')}`,
  `VIN: ${VIN.slice(0, 3)} ${VIN.slice(3, 9)} ${VIN.slice(9, 11)} ${VIN.slice(11)}`,
])('"%s" holds the VIN', (line) => {
  expect(textOf('GAWR FRT 1050 KG', line, 'MFD BY EXAMPLE')).toBe(VIN);
});

test.each([
  ['sixteen characters', VIN.slice(1)],
  ['eighteen', `${VIN}1`],
  ['eighteen of which one may be a star', `X${VIN}`],
  ['a word', 'SAFETYSTANDARDSIN'],
  ['words whose letters look like digits', 'MFDBY EXAMPLEMOTOR'],
  ['several words that have seventeen together', 'GAWR FRT 1050KG 2315'],
  ['a number split by more than a space', `${VIN.slice(0, 8)}-${VIN.slice(8)}`],
  ['no digit at its end', `${VIN.slice(0, 13)}ABCD`],
])('vin.read finds no VIN in %s', (_, line) => {
  expect(textOf(line)).toBeNull();
});

test('vin.read finds no VIN without lines', () => {
  expect(findVin([])).toBeNull();
});

test('vin.read replaces I, O and Q by the most likely valid candidate, at its probability', () => {
  const vin = found(
    withChanges({
      0: { character: 'I', probability: 0.95, others: { l: 0.02, '1': 0.01, L: 0.005 } },
      11: { character: 'O', probability: 0.6, others: { '0': 0.35, Q: 0.04 } },
    }),
  );
  // A lower-case l looks like I and 1, not like L.
  expect(vin?.[0]).toMatchObject({ character: '1', probability: 0.01 });
  expect(vin?.[11]).toMatchObject({ character: '0', probability: 0.35 });
});

test('vin.read returns ? for a character that others are nearly as likely for', () => {
  const doubtful = { character: 'H', probability: 0.6, others: { N: 0.3, '-': 0.05 } };
  expect(textOf(withChanges({ 1: doubtful }))).toBe(`1?${VIN.slice(2)}`);
  expect(textOf(withChanges({ 1: { ...doubtful, others: { '-': 0.3 } } }))).toBe(`1H${VIN.slice(2)}`);
});

test('vin.read states a doubtful character where a required check digit agrees with it alone', () => {
  const doubtful = { character: 'M', probability: 0.6, others: { H: 0.3 } };
  expect(textOf(withChanges({ 1: doubtful }))).toBe(VIN);
});

test('vin.read takes the other candidate where a required check digit agrees with that one alone', () => {
  const vin = found(withChanges({ 1: { character: 'H', probability: 0.6, others: { M: 0.3 } } }));
  expect(vin?.map(({ character }) => character).join('')).toBe(VIN);
  expect(vin?.[1]?.probability).toBe(0.3);
});

test('vin.read settles nothing by a check digit that the market does not require', () => {
  // Valid by chance: W stands for Germany.
  const european = 'WM8GDM9A1KP042788';
  const said = spelt(european).map((each, place) =>
    place === 1 ? { character: 'M', probability: 0.6, others: { H: 0.3 } } : each,
  );
  expect(textOf(said)).toBe(`W?${european.slice(2)}`);
});

test('a nearly certain character is doubted where a required check digit disagrees', () => {
  const said = (character: string, other: string) =>
    withChanges({ 1: { character, probability: 0.85, others: { [other]: 0.1 } } });
  // Of M and H only M agrees; of H and N none does.
  expect(textOf(said('H', 'M'))).toBe(VIN);
  expect(textOf(said('H', 'N'))).toBe(`1?${VIN.slice(2)}`);
});

test('vin.read finds no VIN where more than three characters are doubtful', () => {
  const doubtful = { character: '3', probability: 0.5, others: { '8': 0.4 } };
  const changes = { 2: doubtful, 12: doubtful, 13: doubtful, 15: doubtful };
  expect(textOf(withChanges(changes))).toBeNull();
});

test('vin.read returns ? for a character without a valid candidate', () => {
  const vin = found(withChanges({ 3: { character: 'Q', probability: 0.9, others: { O: 0.1 } } }));
  expect(vin?.[3]).toMatchObject({ character: '?', probability: 0 });
});

test('vin.read rejects a number with more than three unreadable characters', () => {
  const unreadable = { character: 'Q', probability: 0.9 };
  expect(textOf(withChanges({ 1: unreadable, 2: unreadable, 3: unreadable }))).toBe('1???DM9AXKP042788');
  expect(textOf(withChanges({ 1: unreadable, 2: unreadable, 3: unreadable, 4: unreadable }))).toBeNull();
});

test('vin.read prefers a labelled number, then the more confident one, whatever the check digit', () => {
  const wrongDigit = '1M8GDM9A1KP042788';
  expect(textOf(spelt(VIN, 0.99), spelt(`VIN ${wrongDigit}`, 0.7))).toBe(wrongDigit);
  expect(textOf(spelt(VIN, 0.7), spelt(wrongDigit, 0.9))).toBe(wrongDigit);
});
