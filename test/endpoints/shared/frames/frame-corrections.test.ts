/** Level, size, place and exposure of frames, on numbers and on a drawn picture. */
import { describe, expect, it } from 'vitest';
import { drawFrame } from '../../../../src/endpoints/shared/frames/draw-frame.ts';
import {
  brightnessOf,
  exposuresOf,
  exposureTable,
  frameSize,
  placeFrames,
  rollOf,
} from '../../../../src/endpoints/shared/frames/frame-corrections.ts';
import type { OutlinedPart } from '../../../../src/inference/toolkit/segmentation/part-outlines.ts';

type Part = Pick<OutlinedPart, 'part' | 'side' | 'box'>;
const boxed = (x0: number, y0: number, x1: number, y1: number) => ({ x0, y0, x1, y1 });
const outlined = (x0: number, y0: number, x1: number, y1: number) => [
  { x: x0, y: y0 },
  { x: x1, y: y0 },
  { x: x1, y: y1 },
  { x: x0, y: y1 },
];

/** Grey, with a darker vehicle in the box; both in levels. */
function pictureOf(width: number, height: number, vehicle: ReturnType<typeof boxed>, level = 40, ground = 180) {
  const pixels = new Uint8Array(width * height * 3).fill(ground);
  for (let y = vehicle.y0; y < vehicle.y1; y += 1) {
    pixels.fill(level, (y * width + vehicle.x0) * 3, (y * width + vehicle.x1) * 3);
  }
  return { width, height, pixels };
}

describe('frames', () => {
  it('frames have the size and shape of the middle picture, not upright, and no more than 1,280 pixels', () => {
    const size = (width: number, height: number) => ({ width, height });
    expect(frameSize([size(600, 400), size(900, 600), size(4000, 3000)])).toEqual(size(900, 600));
    expect(frameSize([size(4000, 3000)])).toEqual(size(1280, 960));
    expect(frameSize([size(3000, 4000)])).toEqual(size(1280, 1280));
    expect(frameSize([size(3000, 1000)])).toEqual(size(1280, 720));
    expect(frameSize([size(1, 1)])).toEqual(size(1, 1));
  });

  it('frames are plain where no picture shows anything', () => {
    const frame = { width: 300, height: 200 };
    // In the corner of its picture.
    const picture = pictureOf(600, 400, boxed(0, 0, 200, 80));
    const [placing] = placeFrames([{ size: picture, outline: outlined(0, 0, 200, 80), rollDegrees: 0 }], frame);
    if (!placing) throw new Error('no placing');
    const { pixels } = drawFrame(picture, placing, { stops: 0, frame: frame });
    expect([...pixels.subarray(0, 3)]).toEqual([232, 232, 232]);
    expect(pixels[((placing.box.y + 3) * 300 + placing.box.x + 3) * 3]).toBe(40);
  });

  it('frames show every vehicle as high, on one ground, in the middle, and the widest whole', () => {
    const frame = { width: 600, height: 400 };
    const seen = [
      { size: frame, outline: outlined(10, 20, 310, 120), rollDegrees: 0 },
      { size: frame, outline: outlined(200, 100, 350, 250), rollDegrees: 0 },
    ];
    const boxes = placeFrames(seen, frame).map(({ box }) => box);
    expect(boxes.map(({ height }) => height)).toEqual([168, 168]);
    expect(boxes.map(({ y, height }) => y + height)).toEqual([320, 320]);
    expect(boxes.map(({ x, width }) => x + width / 2)).toEqual([300, 300]);
    expect(boxes[0]?.width).toBe(504);
  });

  it('the vehicle in a frame fills its box, wherever it was in the picture', () => {
    const frame = { width: 300, height: 200 };
    const vehicle = boxed(40, 60, 240, 140);
    const picture = pictureOf(600, 400, vehicle);
    const outline = outlined(vehicle.x0, vehicle.y0, vehicle.x1, vehicle.y1);
    const [placing] = placeFrames([{ size: picture, outline, rollDegrees: 0 }], frame);
    if (!placing) throw new Error('no placing');
    const { pixels } = drawFrame(picture, placing, { stops: 0, frame: frame });
    const at = (x: number, y: number) => pixels[(Math.round(y) * frame.width + Math.round(x)) * 3];
    const { x, y, width, height } = placing.box;
    for (const [across, down] of [
      [3, 3],
      [width - 4, 3],
      [3, height - 4],
      [width - 4, height - 4],
    ] as const) {
      expect(at(x + across, y + down)).toBe(40);
    }
    for (const [across, down] of [
      [-4, height / 2],
      [width + 3, height / 2],
      [width / 2, -4],
      [width / 2, height + 3],
    ] as const) {
      expect(at(x + across, y + down)).toBe(180);
    }
  });

  it('frames are levelled: a vehicle that stands askew stands straight', () => {
    const frame = { width: 300, height: 200 };
    const askew = { width: 600, height: 400, pixels: new Uint8Array(600 * 400 * 3).fill(180) };
    const slope = Math.tan((5 * Math.PI) / 180);
    const outline = [
      { x: 150, y: 150 },
      { x: 450, y: 150 + 300 * slope },
      { x: 450, y: 250 + 300 * slope },
      { x: 150, y: 250 },
    ];
    for (let x = 150; x < 450; x += 1) {
      const top = Math.round(150 + (x - 150) * slope);
      for (let y = top; y < top + 100; y += 1) askew.pixels.fill(40, (y * 600 + x) * 3, (y * 600 + x) * 3 + 3);
    }
    const [placing] = placeFrames([{ size: askew, outline, rollDegrees: -5 }], frame);
    if (!placing) throw new Error('no placing');
    const { pixels } = drawFrame(askew, placing, { stops: 0, frame: frame });
    const topOf = (x: number) =>
      Array.from({ length: 200 }, (_, y) => pixels[(y * 300 + x) * 3] ?? 0).findIndex((level) => level < 100);
    expect(Math.abs(topOf(placing.box.x + 40) - topOf(placing.box.x + placing.box.width - 40))).toBeLessThanOrEqual(1);
  });
});

describe('the roll', () => {
  const wheels = (rise: number): Part[] => [
    { part: 'front_wheel', side: 'left', box: boxed(100, 300, 160, 360) },
    { part: 'rear_wheel', side: 'left', box: boxed(400, 300 + rise, 460, 360 + rise) },
  ];
  it('the roll of a picture follows the wheels from the side', () => {
    expect(rollOf(wheels(15.7), 270, 420)).toBe(-3);
    expect(rollOf(wheels(-15.7), 280, 420)).toBe(3);
  });
  it('the roll of a picture follows a pair of lights from the front', () => {
    const lights: Part[] = [
      { part: 'headlight', side: 'right', box: boxed(100, 300, 140, 320) },
      { part: 'headlight', side: 'left', box: boxed(300, 307, 340, 327) },
    ];
    expect(rollOf(lights, 355, 300)).toBe(-2);
  });
  it.each([
    ['from a corner, where perspective tilts level lines', wheels(15.7), 315],
    ['without both wheels', wheels(15.7).slice(1), 270],
    ['by wheels of the other side', wheels(15.7), 90],
    ['by less than the outlines tell', wheels(1), 270],
    ['by more than a camera is held askew', wheels(120), 270],
  ])('the roll of a picture is not corrected %s', (_, parts, azimuth) => {
    expect(rollOf(parts, azimuth, 420)).toBe(0);
  });
});

describe('the exposure', () => {
  it('the exposure makes pictures as bright as the middle one, within a stop', () => {
    expect(exposuresOf([0.1, 0.2, 0.4])).toEqual([1, 0, -1]);
    expect(exposuresOf([0.01, 0.2, 0.2])).toEqual([1, 0, 0]);
    expect(exposuresOf([0, 0, 0])).toEqual([0, 0, 0]);
  });

  it('the brightness of a picture is measured in linear light, whatever the light of the vehicle', () => {
    for (const level of [0, 255]) {
      // 188 of 255 is half the light.
      expect(brightnessOf(pictureOf(600, 400, boxed(40, 60, 240, 140), level, 188))).toBeCloseTo(0.5, 2);
    }
    expect(brightnessOf({ width: 1, height: 1, pixels: new Uint8Array(3) })).toBe(0);
  });

  it('the exposure doubles the light with each stop and burns nothing beyond white', () => {
    expect([...exposureTable(0)]).toEqual(Array.from({ length: 256 }, (_, level) => level));
    const brighter = exposureTable(1);
    expect(brighter[137]).toBe(188);
    expect(brighter[255]).toBe(255);
    expect(brighter[0]).toBe(0);
  });
});
