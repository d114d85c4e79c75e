/** Which reasons the pixels of drawn print give. */
import { expect, test } from 'vitest';
import { quadOfBox } from '../../../../src/inference/toolkit/decoding/rotated-boxes.ts';
import {
  findReadingIssues,
  mostConfident,
  type SeenPrint,
} from '../../../../src/inference/toolkit/quality/reading-issues.ts';
import { blurred, croppedTo, exposed, glaring, reduced, shaken } from '../../../../training/degraded-pictures.ts';
import { type DrawnPrint, drawPrint } from '../../support/drawn-print.ts';

const asRead = ({ line }: DrawnPrint): SeenPrint => ({ read: [line.quad], lines: [line] });
const asFound = ({ line }: DrawnPrint): SeenPrint => ({ read: [], lines: [line] });
const NOTHING: SeenPrint = { read: [], lines: [] };

const reasonsOf = (drawn: DrawnPrint, print = asRead(drawn)) =>
  findReadingIssues(drawn.picture, print, null).map(({ reason }) => reason);

const good = drawPrint();
const changed = (picture: DrawnPrint['picture']) => ({ ...good, picture });

test.each([
  ['of print', good],
  ['of white print on black', drawPrint({ ink: 230, ground: 20 })],
  ['of print on ground as white as a scan', drawPrint({ ground: 255 })],
  ['of print in the shade', changed(exposed(good.picture, -3))],
  ['of print of eighteen pixels', drawPrint({ lineHeight: 18 })],
])('a sharp picture %s has no issues, read or unread', (_, drawn) => {
  expect(reasonsOf(drawn)).toEqual([]);
  expect(reasonsOf(drawn, asFound(drawn))).toEqual([]);
});

const CENTRE = { x: 250, y: 60 };

test.each([
  ['blurred', changed(blurred(good.picture, 4))],
  ['blurred', changed(shaken(good.picture, 14))],
  ['too_dark', changed(exposed(good.picture, -7))],
  ['overexposed', changed(exposed(drawPrint({ ink: 100 }).picture, 4))],
  ['reflections', changed(glaring(good.picture, CENTRE, 36))],
  ['low_resolution', drawPrint({ lineHeight: 8 })],
  ['too_far', drawPrint({ lineHeight: 8, width: 1200 })],
  ['cropped', drawPrint({ shift: -200 })],
])('print that is %s has this reason alone', (reason, drawn) => {
  expect(reasonsOf(drawn)).toEqual([reason]);
  expect(reasonsOf(drawn, asFound(drawn))).toEqual([reason]);
});

test.each([
  ['blurred', changed(blurred(good.picture, 4))],
  ['too_dark', changed(exposed(good.picture, -7))],
  ['overexposed', changed(exposed(drawPrint({ ink: 100 }).picture, 4))],
  ['low_resolution', changed(reduced(good.picture, 0.4))],
])('a picture in which no print is found may be %s', (reason, drawn) => {
  expect(reasonsOf(drawn, NOTHING)).toEqual([reason]);
});

test('the confidence of an issue grows with the defect', () => {
  const confidenceAt = (sigma: number) =>
    findReadingIssues(blurred(good.picture, sigma), asRead(good), null)[0]?.confidence ?? 0;
  const confidences = [1, 4, 5, 6].map(confidenceAt);
  expect(confidences).toEqual(confidences.toSorted((a, b) => a - b));
  expect(new Set(confidences).size).toBe(confidences.length);
  expect(confidences[0]).toBe(0);
  expect(confidences.at(-1)).toBeLessThanOrEqual(0.95);
});

test('a reading without a value always has a reason, which a defect makes doubtful', () => {
  expect(findReadingIssues(good.picture, asFound(good), 'no_plate')).toEqual([{ reason: 'no_plate', confidence: 0.9 }]);
  const [first, second] = findReadingIssues(blurred(good.picture, 5), asFound(good), 'no_plate');
  expect([first?.reason, second?.reason]).toEqual(['blurred', 'no_plate']);
  expect(second?.confidence).toBeCloseTo(0.9 * (1 - (first?.confidence ?? 0)));
  const black = { ...good.picture, pixels: new Uint8Array(good.picture.pixels.length) };
  expect(findReadingIssues(black, NOTHING, 'no_plate').map(({ reason }) => reason)).toEqual(['too_dark', 'no_plate']);
});

test('issues are judged by the print that was read, whatever the rest of the picture is like', () => {
  const { width } = good.picture;
  const soft = blurred(good.picture, 5);
  const cut = croppedTo(good.picture, { x0: 0, y0: 40, x1: width, y1: 80 });
  soft.pixels.set(cut.pixels, 3 * width * 40);
  expect(findReadingIssues(soft, asRead(good), null)).toEqual([]);
});

test('the date that a camera writes into a corner is not print that is cut', () => {
  const { picture, line } = good;
  const date = { ...line, quad: quadOfBox({ x0: 0, y0: 1, x1: 90, y1: 13 }) };
  const reasons = findReadingIssues(picture, { read: [], lines: [line, date] }, null).map(({ reason }) => reason);
  expect(reasons).not.toContain('cropped');
});

test('one line of many at the edge of the picture does not make a document cropped', () => {
  const quads = Array.from({ length: 8 }, (_, row) =>
    quadOfBox({ x0: 20, y0: 4 + 13 * row, x1: row === 3 ? 500 : 400, y1: 17 + 13 * row }),
  );
  const reasons = findReadingIssues(good.picture, { read: quads, lines: [] }, null).map(({ reason }) => reason);
  expect(reasons).not.toContain('cropped');
});

test('doubtful lines are texture, and prove nothing', () => {
  const { picture, line } = drawPrint({ lineHeight: 8, shift: -240 });
  const doubtful = { ...line, characters: line.characters.map((each) => ({ ...each, probability: 0.4 })) };
  expect(findReadingIssues(picture, { read: [], lines: [doubtful] }, 'no_plate').map(({ reason }) => reason)).toEqual([
    'no_plate',
  ]);
});

test('each reason is stated once, most confident first', () => {
  expect(
    mostConfident([
      { reason: 'blurred', confidence: 0.5 },
      { reason: 'too_dark', confidence: 0.7 },
      { reason: 'blurred', confidence: 0.8 },
    ]),
  ).toEqual([
    { reason: 'blurred', confidence: 0.8 },
    { reason: 'too_dark', confidence: 0.7 },
  ]);
});
