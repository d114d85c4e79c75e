import { expect, test } from 'vitest';
import { toLab } from '../../../src/endpoints/vehicle.identify/lab.ts';
import { paintColor } from '../../../src/endpoints/vehicle.identify/paint-color.ts';
import { partOfLabel } from '../../../src/inference/toolkit/detection/part-labels.ts';

type Rgb = readonly [number, number, number];

/** A picture in stripes of 20 rows, and a part that covers each stripe. */
function stripes(...painted: readonly (readonly [label: string, colour: Rgb])[]) {
  const [width, height] = [60, 20 * painted.length];
  const pixels = Uint8Array.from({ length: width * height * 3 }, (_, place) => {
    const [, colour = [0, 0, 0]] = painted[Math.floor(place / 3 / width / 20)] ?? [];
    return colour[place % 3] ?? 0;
  });
  const parts = painted.map(([label], index) => {
    const box = { x0: 0, y0: index * 20, x1: width, y1: index * 20 + 20 };
    const outline = [
      { x: 0, y: box.y0 },
      { x: width, y: box.y0 },
      { x: width, y: box.y1 },
      { x: 0, y: box.y1 },
    ];
    return { part: partOfLabel(label).part, box, outlines: [outline] };
  });
  return paintColor(parts, { width, height, pixels });
}

// Published values of sRGB's corners under D65.
test.each([
  [[255, 255, 255], 100, 0, 0],
  [[255, 0, 0], 53.24, 80.09, 67.2],
  [[0, 255, 0], 87.73, -86.18, 83.18],
  [[0, 0, 255], 32.3, 79.19, -107.86],
  [[0, 0, 0], 0, 0, 0],
] as const)('the colour %j has its published values in CIELAB', ([red, green, blue], lightness, a, b) => {
  const lab = toLab(red, green, blue);
  expect(lab.lightness).toBeCloseTo(lightness, 1);
  expect(lab.a).toBeCloseTo(a, 1);
  expect(lab.b).toBeCloseTo(b, 1);
});

test.each([
  ['white', [235, 236, 238]],
  ['silver', [160, 163, 166]],
  ['gray', [100, 102, 104]],
  ['black', [25, 25, 27]],
  ['red', [190, 20, 30]],
  ['burgundy', [70, 5, 15]],
  ['orange', [230, 120, 20]],
  ['yellow', [240, 215, 30]],
  ['gold', [190, 160, 95]],
  ['beige', [200, 185, 160]],
  ['brown', [90, 60, 35]],
  ['green', [30, 110, 50]],
  ['turquoise', [30, 150, 160]],
  ['blue', [25, 60, 160]],
  ['purple', [110, 40, 120]],
  ['pink', [235, 160, 175]],
] as const)('paint of the colour %s has that name', (value, colour) => {
  const hex = `#${colour.map((level) => level.toString(16).padStart(2, '0')).join('')}`;
  expect(stripes(['hood', colour])).toEqual({ value, hex, confidence: 1 });
});

test('the sky on a black hood does not make it silver', () => {
  expect(stripes(['hood', [165, 168, 172]], ['front_bumper', [20, 20, 22]])?.value).toBe('black');
});

test('the windows in the upper half of a door are not paint', () => {
  const half = 20;
  const [width, height] = [60, 2 * half];
  const pixels = new Uint8Array(width * height * 3).fill(10);
  pixels.fill(240, width * half * 3);
  const box = { x0: 0, y0: 0, x1: width, y1: height };
  const outline = [
    { x: 0, y: 0 },
    { x: width, y: 0 },
    { x: width, y: height },
    { x: 0, y: height },
  ];
  expect(paintColor([{ part: 'front_door', box, outlines: [outline] }], { width, height, pixels })).toEqual({
    value: 'white',
    hex: '#f0f0f0',
    confidence: 1,
  });
});

test('the confidence is the share of paint that has the colour', () => {
  const found = stripes(['hood', [190, 20, 30]], ['trunk_lid', [190, 20, 30]], ['rear_door', [25, 60, 160]]);
  expect(found).toMatchObject({ value: 'red', hex: '#be141e' });
  expect(found?.confidence).toBeGreaterThan(0.75);
  expect(found?.confidence).toBeLessThan(0.9);
});

test('there is no colour without painted parts', () => {
  expect(stripes(['windshield', [190, 20, 30]], ['front_wheel.left', [20, 20, 20]])).toBeNull();
});
