import { expect, test } from 'vitest';
import { describeFraming } from '../../../src/endpoints/vehicle.pose/describe-framing.ts';

const picture = { width: 1000, height: 500 };
const framed = (x0: number, y0: number, x1: number, y1: number) =>
  describeFraming({ box: { x0, y0, x1, y1 }, confidence: 0.8 }, picture);

test.each([
  ['well_framed', [], [200, 100, 800, 400]],
  ['cropped', ['left'], [0, 100, 600, 400]],
  ['cropped', ['right', 'bottom'], [300, 100, 1000, 498]],
  ['too_close', ['left', 'right', 'bottom'], [0, 50, 1000, 500]],
  ['too_far', [], [450, 200, 650, 350]],
  ['off_center', [], [20, 150, 420, 480]],
] as const)('a vehicle is framed as %s with the cropped edges %j', (value, edges, [x0, y0, x1, y1]) => {
  expect(framed(x0, y0, x1, y1).framing).toEqual({ value, confidence: 0.8, cropped_edges: edges });
});

test('the framing states the box of the vehicle and its share of the picture', () => {
  expect(framed(200, 100, 700, 350).vehicle).toEqual({
    confidence: 0.8,
    bbox: { x: 200, y: 100, width: 500, height: 250 },
    area_fraction: 0.25,
  });
});
