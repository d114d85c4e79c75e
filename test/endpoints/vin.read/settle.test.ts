/** Print and code that agree, differ, or are alone. */
import { expect, test } from 'vitest';
import { settle } from '../../../src/endpoints/vin.read/settle.ts';

/** American, with the right check digit. */
const AMERICAN = '1M8GDM9AXKP042788';
/** European, whose ninth character checks nothing. */
const EUROPEAN = 'WVWZZZ1JZXW000001';
const CODE_PLACE = [5, 25].flatMap((y) => [
  { x: 100, y },
  { x: 140, y },
]);

const printed = (text: string, confidence = 0.8) => ({
  characters: Array.from(text, (character, place) => ({
    character,
    confidence: character === '?' ? 0 : confidence,
    bbox: { x: place, y: 0, width: 1, height: 2 },
  })),
  confidence: text.includes('?') ? 0 : confidence,
  box: { x0: 0, y0: 0, x1: 17, y1: 2 },
  quad: [
    { x: 0, y: 0 },
    { x: 17, y: 0 },
    { x: 17, y: 2 },
    { x: 0, y: 2 },
  ],
});

const coded = (text: string) => {
  const [a, b, c, d] = CODE_PLACE;
  if (!a || !b || !c || !d) throw new Error('a code has four corners');
  return { text, quad: [a, b, d, c] as const };
};

test('the settled VIN is null without print and without a code', () => {
  expect(settle(null, [])).toBeNull();
});

test('the settled VIN is the print where no code is', () => {
  expect(settle(printed(EUROPEAN), [])).toMatchObject({
    text: EUROPEAN,
    confidence: 0.8,
    bbox: { x: 0, y: 0, width: 17, height: 2 },
  });
});

test('the settled VIN is the code where no print is, with the box of the code for each character', () => {
  const vin = settle(null, [coded(AMERICAN)]);
  const bbox = { x: 100, y: 5, width: 40, height: 20 };
  expect(vin).toMatchObject({ text: AMERICAN, confidence: 0.99, bbox, check_digit: { valid: true } });
  expect(vin?.characters).toEqual(Array.from(AMERICAN, (character) => ({ character, confidence: 0.99, bbox })));
});

test('the settled VIN is null where codes hold two VINs and nothing is printed', () => {
  expect(settle(null, [coded(AMERICAN), coded(EUROPEAN)])).toBeNull();
});

test.each([AMERICAN, EUROPEAN])('the settled VIN is certain of %s where print and one of the codes agree', (text) => {
  const vin = settle(printed(text), [coded('3VWZZZ1KZXM000009'), coded(text)]);
  expect(vin).toMatchObject({ text, confidence: 0.999, bbox: { x: 0, y: 0, width: 17, height: 2 } });
  expect(vin?.characters.every(({ confidence }) => confidence === 0.999)).toBe(true);
});

test('the settled VIN takes characters that cannot be read from the code', () => {
  expect(settle(printed(EUROPEAN.replace('1J', '??')), [coded(EUROPEAN)])).toMatchObject({
    text: EUROPEAN,
    confidence: 0.999,
  });
});

test('the settled VIN takes the code where its check digit is right, the market requires one, and that of the print is wrong', () => {
  const vin = settle(printed(AMERICAN.replace('8', 'B')), [coded(AMERICAN)]);
  expect(vin).toMatchObject({ text: AMERICAN, confidence: 0.99, check_digit: { valid: true } });
  expect(vin?.characters[2]).toEqual({ character: '8', confidence: 0.99, bbox: { x: 2, y: 0, width: 1, height: 2 } });
});

test('the settled VIN takes the code where its check digit is right and the print is a misreading of it, whatever the market', () => {
  const german = 'WDBDA28D9PG003786';
  expect(settle(printed(german.replace('W', 'V')), [coded(german)])).toMatchObject({ text: german, confidence: 0.99 });
});

test('the settled VIN keeps the print where its check digit is right, the market requires one, and that of the code is wrong', () => {
  expect(settle(printed(AMERICAN), [coded(AMERICAN.replace('8', '3'))])).toMatchObject({
    text: AMERICAN,
    confidence: 0.8,
  });
});

test('the settled VIN keeps the print with less confidence where no check digit decides', () => {
  const vin = settle(printed(EUROPEAN), [coded(EUROPEAN.replace('1J', '1K'))]);
  expect(vin).toMatchObject({ text: EUROPEAN, confidence: 0.4 });
  expect(vin?.characters.filter(({ confidence }) => confidence === 0.4)).toHaveLength(1);
});

test('the settled VIN keeps the print of a European VIN beside the code of another one with a right check digit', () => {
  expect(settle(printed(EUROPEAN), [coded(AMERICAN)])).toMatchObject({ text: EUROPEAN, confidence: 0.4 });
});
