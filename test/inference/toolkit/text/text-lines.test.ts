/** What a detector of lines and a reader of lines make of a picture together. */
import { expect, test } from 'vitest';
import type { ModelInputs } from '../../../../src/inference/models/model.ts';
import { createCloserReader, createTextReader } from '../../../../src/inference/toolkit/text/text-lines.ts';
import { lineAt, modelSeeing, readerSaying, type Said, spelt } from '../../support/print-saying.ts';
import { modelSaying, picture, rows } from '../../support/saying-model.ts';

const textOf = ({ characters }: { characters: { character: string }[] }) =>
  characters.map(({ character }) => character).join('');

test('the text reader reads every line, largest first, without empty ones', async () => {
  const lines = [lineAt(2, 2, 20, 4), lineAt(2, 20, 40, 8), lineAt(2, 40, 30, 6)];
  // An empty line is doubtful, and read the other way round as well.
  const reader = readerSaying([spelt('LARGE'), [], [], spelt('SMALL')]);
  const read = await createTextReader(modelSeeing(lines, reader))(picture);
  expect(read.map(textOf)).toEqual(['LARGE', 'SMALL']);
  expect(read[0]?.quad[2]).toEqual({ x: 42, y: 28 });
});

test('the text reader reads no more lines than wanted, the largest of them', async () => {
  const lines = [lineAt(2, 2, 20, 4), lineAt(2, 20, 40, 8), lineAt(2, 40, 30, 6)];
  const read = await createTextReader(modelSeeing(lines, readerSaying([spelt('LARGE'), spelt('SMALL')])), 2)(picture);
  expect(read.map(textOf)).toEqual(['LARGE', 'SMALL']);
});

test('the text reader looks closer at each quarter, and reads there only what is not known', async () => {
  // The detector sees the same in each quarter: four lines in all.
  const asked: ModelInputs[] = [];
  const said = ['A', 'B', 'C', 'D'].map((text) => spelt(text));
  const model = modelSeeing([lineAt(16, 16, 24, 8)], readerSaying([...said, ...said], asked));
  const found = await createCloserReader(model)(picture, []);
  expect(found.map(textOf)).toEqual(['A', 'B', 'C', 'D']);
  const corners = found.map(({ quad: [{ x, y }] }) => ({ x, y }));
  const right = (corners[1]?.x ?? 0) - (corners[0]?.x ?? 0);
  // Quarters have a part in common.
  expect(right).toBeGreaterThan(25);
  expect(right).toBeLessThan(32);
  expect(corners[2]).toMatchObject({ x: corners[0]?.x, y: expect.closeTo((corners[0]?.y ?? 0) + right) });
  await createCloserReader(model)(picture, found.slice(0, 3));
  expect(asked).toHaveLength(5);
});

test("a character's box is centred on its step and extends halfway to its neighbours", async () => {
  // Seven steps, of which the second, fourth and sixth spell: their middles are 3, 7 and 11 fourteenths along.
  const reader = readerSaying([spelt('ABC')]);
  const [line] = await createTextReader(modelSeeing([lineAt(4, 8, 28, 6)], reader))(picture);
  const xs = line?.characters.map(({ quad }) => [quad[0].x, quad[1].x]);
  expect(xs?.flat()).toEqual([6, 14, 14, 22, 22, 30].map((x) => expect.closeTo(x, 4)));
  expect(line?.characters[0]?.quad.map(({ y }) => y)).toEqual([8, 8, 14, 14]);
});

test('a doubtful line is read in both directions, and the more certain reading kept', async () => {
  const reader = readerSaying([spelt('68', 0.5), spelt('89', 0.9)]);
  const [line] = await createTextReader(modelSeeing([lineAt(4, 8, 28, 6)], reader))(picture);
  expect(line && textOf(line)).toBe('89');
  // It begins at the right, at the bottom.
  expect(line?.quad[0]).toEqual({ x: 32, y: 14 });
});

test('a certain line is read once', async () => {
  const asked: ModelInputs[] = [];
  await createTextReader(modelSeeing([lineAt(4, 8, 28, 6)], readerSaying([spelt('89')], asked)))(picture);
  expect(asked).toHaveLength(1);
});

test('a vertical line is rotated before it is read', async () => {
  // White above, black below: read downwards, the white is on the left.
  const pixels = new Uint8Array(64 * 64 * 3).map((_, index) => (Math.floor(index / 192) < 32 ? 255 : 0));
  const asked: ModelInputs[] = [];
  const reader = readerSaying([spelt('DOWN'), spelt('UP', 0.6)], asked);
  const [line] = await createTextReader(modelSeeing([lineAt(8, 4, 8, 56)], reader))({ ...picture, pixels });
  expect(line && textOf(line)).toBe('DOWN');
  expect(line?.quad[0]).toEqual({ x: 16, y: 4 });
  const [down, up] = asked.map(({ x }) => x);
  expect(down?.shape).toEqual([1, 3, 16, 112]);
  expect([down?.data[0], down?.data[111]]).toEqual([1, 0]);
  expect([up?.data[0], up?.data[111]]).toEqual([0, 1]);
});

test('a character lists its alternatives, most probable first', async () => {
  const said: Said[] = [{ character: 'O', probability: 0.7, others: { Q: 0.05, '0': 0.2 } }];
  const reader = readerSaying([said, said]);
  const [line] = await createTextReader(modelSeeing([lineAt(4, 8, 28, 6)], reader))(picture);
  expect(line?.characters[0]?.others.slice(0, 2)).toEqual([
    { character: '0', probability: expect.closeTo(0.2) },
    { character: 'Q', probability: expect.closeTo(0.05) },
  ]);
});

test('a model without a reader, or with another class than text, is refused with the reason', () => {
  const detector = {
    labels: ['plate'],
    decoder: { name: 'yolo-obb', output: 'output0', score: 0.5, overlap: 0.5, maximum: 9 },
    says: { output0: rows([0], [0], [0], [0], [0], [0]) },
  };
  expect(() => createTextReader(modelSaying({ detector }, { text: readerSaying([]) }))).toThrow(
    'files.detector.labels.0 must be one of text',
  );
  expect(() => createTextReader(modelSaying({ detector: { ...detector, labels: ['text'] } }))).toThrow(
    'uses.text is missing from model.json',
  );
});
