/** The number on a found plate, among the print that stands on it. */
import { expect, test } from 'vitest';
import { readFoundPlate } from '../../../src/endpoints/plate.read/read-found-plate.ts';
import { ON_PLATES } from '../../../src/endpoints/plate.read/read-number.ts';
import type { Quad } from '../../../src/inference/toolkit/decoding/rotated-boxes.ts';
import type { PrintedLine } from '../../../src/inference/toolkit/text/text-lines.ts';
import { printedAt, spelt } from '../../inference/support/print-saying.ts';

/** From (10, 10) to (20, 15), in units of a character's width; a number is two units high. */
const plate: Quad = [
  { x: 10, y: 10 },
  { x: 20, y: 10 },
  { x: 20, y: 15 },
  { x: 10, y: 15 },
];

interface Seen {
  lines: PrintedLine[];
  closer?: PrintedLine[];
}

/** Further cuts show nothing new. */
const read = ({ lines, closer = [] }: Seen, looked: Quad[] = []) =>
  readFoundPlate(
    plate,
    lines,
    {
      readAgain: async () => [],
      lookCloser: async (quad) => {
        looked.push(quad);
        return closer;
      },
    },
    null,
    ON_PLATES,
  );
const line = (text: string, at: readonly [x: number, y: number], height = 2, probability = 0.95) =>
  printedAt(...at, spelt(text, probability), height);

const iowa = line('IOWA', [12, 13.9], 1);

test('letters alone are a number beside the name of a state, and words on a board otherwise', async () => {
  expect(await read({ lines: [line('FZRULZ', [11, 11]), iowa] })).toMatchObject({
    text: 'FZRULZ',
    region: { value: 'US-IA' },
  });
  expect(await read({ lines: [line('CITROEN', [11, 11])] })).toBeNull();
  expect(await read({ lines: [line('PRIVATE', [11, 11])] })).toBeNull();
});

test.each([
  ['chosen by its owner, with a digit', 'KCS1M'],
  ['digits alone', '1366026'],
  ['four characters', 'ZK44'],
])('a number %s needs no format: %s', async (_, text) => {
  expect(await read({ lines: [line(text, [11, 11])] })).toMatchObject({ text, country: null, region: null });
});

test('a number with the format of a state says where it comes from', async () => {
  expect(await read({ lines: [line('UH1F0F', [11, 11])] })).toMatchObject({
    text: 'UH1F0F',
    region: { value: 'US-MO' },
  });
});

test('small print is not the number: names of states and slogans', async () => {
  const small = [line('MONTANA', [11, 10.2], 1), line('BIGSKY', [11, 13.9], 1)];
  expect(await read({ lines: small })).toBeNull();
  expect(await read({ lines: [...small, line('ABC1D', [12, 11.5])] })).toMatchObject({ text: 'ABC1D' });
});

test('print beside the plate is not on it', async () => {
  expect(await read({ lines: [line('KCS1M', [22, 11]), line('KCS1M', [11, 18])] })).toBeNull();
});

test('the whole number wins over a part of it', async () => {
  expect(await read({ lines: [line('FZ44', [10.5, 11]), line('RULZ', [15, 11])] })).toMatchObject({ text: 'FZ44RULZ' });
});

test('plate.read looks closer only if the print is not clear', async () => {
  const looked: Quad[] = [];
  await read({ lines: [line('UH1F0F', [11, 11])] }, looked);
  expect(looked).toEqual([]);
  const blurred = line('UHIFOE', [11, 11], 2, 0.4);
  expect(await read({ lines: [blurred], closer: [line('UH1F0F', [11, 11])] }, looked)).toMatchObject({
    text: 'UH1F0F',
  });
  expect(looked).toEqual([plate]);
});

test('a number with an uncertain character and no format is not stated', async () => {
  const doubtful = spelt('FZRULZ', 0.95).map((said, at) => (at === 2 ? { ...said, probability: 0.4 } : said));
  expect(await read({ lines: [printedAt(11, 11, doubtful), iowa] })).toBeNull();
});
