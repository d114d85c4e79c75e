import sharp from 'sharp';
import { expect, test } from 'vitest';
import { takenBadly } from '../../../training/bad-photographs.ts';
import { randomFrom } from '../../../training/print-pictures.ts';

const SEEDS = 24;
const SIZE = { width: 160, height: 120 };

test('a seed takes one bad photograph, with the proportions of the picture, and other seeds take others', async () => {
  const stripes = '<path d="M20 0V120M60 0V120M100 0V120M140 0V120" stroke="#111" stroke-width="8"/>';
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="160" height="120"><rect width="100%" height="100%" fill="#ddd"/>${stripes}</svg>`;
  const jpeg = await sharp(Buffer.from(svg)).jpeg().toBuffer();
  const taken = await Promise.all(Array.from({ length: SEEDS }, (_, seed) => takenBadly(jpeg, randomFrom(seed))));
  for (const [seed, picture] of taken.entries()) {
    const { width, height } = await sharp(picture).metadata();
    expect(Math.abs(width / height - SIZE.width / SIZE.height)).toBeLessThan(0.06);
    if (seed < 6) expect(await takenBadly(jpeg, randomFrom(seed))).toEqual(picture);
  }
  expect(new Set(taken.map((each) => each.toString('base64'))).size).toBe(SEEDS);
});
