/** Every way to store a picture is read as Pillow and littlecms read it; goldens/make_picture_goldens.py wrote both. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeImage } from '../../../../src/inference/toolkit/images/decode-image.ts';

interface Golden {
  width: number;
  height: number;
  /** Base64 of [height, width, 3]. */
  pixels: string;
}

const goldensFolder = new URL('../../goldens/', import.meta.url);
const goldens = JSON.parse(readFileSync(new URL('pictures.json', goldensFolder), 'utf8')) as Record<string, Golden>;

/** Rounding, of 255 levels. */
const TOLERANCE = 2;
const OTHER_TOLERANCES: Readonly<Record<string, number>> = {
  // It says which inks and not what they look like: libvips takes a common press, Pillow plain subtraction.
  'cmyk.jpg': 90,
};

test('every picture has its golden', () => {
  expect(readdirSync(new URL('pictures/', goldensFolder)).toSorted()).toEqual(Object.keys(goldens).toSorted());
});

test.each(Object.entries(goldens))('%s is decoded to the golden pixels', async (name, { width, height, pixels }) => {
  const image = await decodeImage(readFileSync(new URL(`pictures/${name}`, goldensFolder)));
  expect([image.width, image.height]).toEqual([width, height]);
  expect(greatestDifference(image.pixels, Buffer.from(pixels, 'base64'))).toBeLessThanOrEqual(
    OTHER_TOLERANCES[name] ?? TOLERANCE,
  );
});

test.each([
  ['display-p3.png', 'opaque.png'],
  ['adobe-rgb.png', 'opaque.png'],
  ['deep-display-p3.png', 'deep.png'],
  ['grey-gamma-1.8.png', 'grey.png'],
  ['cmyk-profile.jpg', 'cmyk.jpg'],
])('the profile of %s makes other colours of the same levels', (name, without) => {
  const [one, other] = [name, without].map((file) => Buffer.from(goldens[file]?.pixels ?? '', 'base64'));
  expect(greatestDifference(one as Buffer, other as Buffer)).toBeGreaterThan(10);
});

function greatestDifference(one: Uint8Array, other: Uint8Array): number {
  expect(one.length).toBe(other.length);
  return one.reduce((greatest, level, index) => Math.max(greatest, Math.abs(level - (other[index] as number))), 0);
}
