/** The ground line of a cut-out vehicle or of all frames of one, its shadow, its reflection and the scenes that are drawn for it. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SCENES } from '../../../../src/contracts/vocabulary/renders.ts';
import {
  commonGround,
  findGround,
  type Ground,
  inPerspective,
  type Stance,
} from '../../../../src/endpoints/shared/scene/ground.ts';
import { footOfWall, glossOf, paintScene } from '../../../../src/endpoints/shared/scene/scenes.ts';
import { paintReflection, paintShadow } from '../../../../src/endpoints/shared/scene/shadow.ts';
import type { Box } from '../../../../src/inference/toolkit/decoding/boxes.ts';
import { plainPicture } from '../../../../src/inference/toolkit/images/compose.ts';

const size = { width: 400, height: 300 };
const TIRE = 60;

/** A body with two tires, whose lowest rows are given; between them there is light under the body. */
function seen(frontRow: number, rearRow: number, { width, height } = size) {
  const matte = new Uint8Array(width * height);
  const wheels: Box[] = [
    { x0: 90, x1: 90 + TIRE, y0: frontRow - TIRE, y1: frontRow },
    { x0: 250, x1: 250 + TIRE, y0: rearRow - TIRE, y1: rearRow },
  ];
  const box = { x0: 50, x1: 350, y0: 110, y1: Math.max(frontRow, rearRow) };
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const isBody = x >= box.x0 && x < box.x1 && y >= box.y0 && y < Math.min(frontRow, rearRow) - 25;
      const isTire = wheels.some(
        ({ x0, x1, y1 }) => (x + 0.5 - (x0 + x1) / 2) ** 2 + (y + 0.5 - (y1 - TIRE / 2)) ** 2 < (TIRE / 2) ** 2,
      );
      if (isBody || isTire) matte[y * width + x] = 255;
    }
  }
  return { matte, box, wheels };
}

function groundOf(frontRow: number, rearRow: number, knowsWheels = true): Ground {
  const { matte, box, wheels } = seen(frontRow, rearRow);
  return findGround(matte, size, box, knowsWheels ? wheels : []);
}
const rowAt = ({ left, line }: Ground, x: number) => line[x - left] ?? Number.NaN;

describe('the ground line', () => {
  test.each([true, false])(
    'the ground line runs straight from tire to tire, with the wheels named or not: %s',
    (knowsWheels) => {
      const ground = groundOf(250, 220, knowsWheels);
      // Without names the line is the tangent of both tires, a few pixels below the farther one.
      const tolerance = knowsWheels ? 2 : 6;
      expect(Math.abs(rowAt(ground, 120) - 250)).toBeLessThan(tolerance);
      expect(Math.abs(rowAt(ground, 280) - 220)).toBeLessThan(tolerance);
      expect(Math.abs(rowAt(ground, 200) - 235)).toBeLessThan(tolerance);
    },
  );

  test('the ground line meets the ground where the tires do', () => {
    const { contacts, metrePixels } = groundOf(250, 220);
    expect(contacts.map(({ y }) => y)).toEqual([250, 220]);
    expect(contacts[0]?.x).toBeCloseTo(120, -1);
    // A tire is 0.66 metres high.
    expect(metrePixels).toBeCloseTo(TIRE / 0.66, 0);
  });

  test('the ground has its horizon at the height of somebody who stands', () => {
    const { horizon, metrePixels } = groundOf(250, 250);
    expect((250 - horizon) / metrePixels).toBeCloseTo(1.5, 5);
  });

  test('the ground line goes through the points at which any two tires touch it, and nothing else is far below', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 290 }), fc.integer({ min: 200, max: 290 }), (front, rear) => {
        const { matte, box, wheels } = seen(front, rear);
        const ground = findGround(matte, size, box, wheels);
        for (const { x, y } of ground.contacts) expect(Math.abs(rowAt(ground, Math.floor(x)) - y)).toBeLessThan(2);
        const { left, standing } = ground;
        const below = [...matte.keys()].filter((pixel) => {
          const [x, y] = [pixel % size.width, Math.floor(pixel / size.width)];
          const isStanding = x >= left + standing.from && x < left + standing.to;
          return matte[pixel] && isStanding && y > rowAt(ground, x) + TIRE / 5;
        });
        expect(below).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  test('the ground line exists for an empty matte and for a vehicle as large as the picture', () => {
    const box = { x0: 0, x1: size.width, y0: 0, y1: size.height };
    for (const opacity of [0, 255]) {
      const matte = new Uint8Array(size.width * size.height).fill(opacity);
      const ground = findGround(matte, size, box, []);
      expect([...ground.line].every((row) => row === size.height)).toBe(true);
      for (const scene of SCENES) expect(paintScene(scene, size, ground).pixels.length).toBe(400 * 300 * 3);
    }
  });
});

describe('the ground that frames have in common', () => {
  const stanceOf = (frontRow: number, rearRow: number): Stance => {
    const { box, wheels } = seen(frontRow, rearRow);
    return { vehicle: box, wheels, focalPixels: 320 };
  };
  const common = commonGround([stanceOf(250, 250), stanceOf(250, 180), stanceOf(250, 235)], size, 250);

  test('the ground that frames have in common has one horizon, with every tire of every frame on the floor', () => {
    expect(common.horizon).toBeCloseTo(250 - 1.5 * common.metrePixels, 5);
    for (const scene of SCENES) expect(footOfWall(scene, size, common)).toBeLessThan(180 - 5);
  });

  test('the ground that frames have in common is not lifted by a wheel that was found on a roof', () => {
    const { vehicle, wheels, focalPixels } = stanceOf(250, 250);
    const onRoof = { x0: 180, x1: 240, y0: 60, y1: 120 };
    const misled = commonGround([{ vehicle, wheels: [...wheels, onRoof], focalPixels }], size, 250);
    expect(footOfWall('showroom', size, misled)).toBe(
      footOfWall('showroom', size, commonGround([stanceOf(250, 250)], size, 250)),
    );
  });

  test('the ground that frames have in common lends its perspective to a frame, whose tires stay where they are', () => {
    const own = groundOf(250, 180);
    const { line, contacts, metrePixels, horizon } = inPerspective(own, common);
    expect([line, contacts]).toEqual([own.line, own.contacts]);
    expect([metrePixels, horizon]).toEqual([common.metrePixels, common.horizon]);
  });
});

describe('the shadow', () => {
  const ground = groundOf(250, 230);
  const floor = plainPicture(size, '#c8c8c8');
  paintShadow(floor, ground);
  const at = (x: number, y: number) => floor.pixels[(y * size.width + x) * 3] ?? 0;

  test('the shadow is darkest where tires touch the ground, and lighter between them', () => {
    // Both a pixel below the line.
    expect(at(120, 251)).toBeLessThan(at(200, 241) - 10);
    expect(at(200, 239)).toBeLessThan(150);
  });

  test('the shadow lightens nothing, and ends within a metre', () => {
    const rows = Array.from({ length: size.height }, (_, y) => Array.from({ length: size.width }, (__, x) => at(x, y)));
    expect(Math.max(...rows.flat())).toBe(200);
    expect(Math.min(...rows.filter((_, y) => y > 250 + ground.metrePixels || y < 110).flat())).toBe(200);
  });
});

describe('the reflection', () => {
  const { matte, box, wheels } = seen(250, 230);
  const ground = findGround(matte, size, box, wheels);
  const red = plainPicture(size, '#ff0000');
  const shine = (gloss: number) => {
    const floor = plainPicture(size, '#000000');
    paintReflection(floor, red, matte, ground, gloss);
    return (x: number, y: number) => floor.pixels[(y * size.width + x) * 3] ?? 0;
  };

  test('the reflection shows the vehicle upside down below its ground line, and fades', () => {
    const at = shine(0.5);
    expect(at(120, 252)).toBeGreaterThan(90);
    expect(at(120, 290)).toBeLessThan(at(120, 252));
    // Nothing above the line is touched, and nothing beside the vehicle.
    expect(at(120, 240)).toBe(0);
    expect(at(20, 260)).toBe(0);
  });

  test('the reflection has nothing of the gap beneath the body', () => {
    expect(shine(0.5)(200, 243)).toBe(0);
  });

  test('a dull floor has no reflection', () => {
    const at = shine(glossOf('forecourt'));
    for (let y = 240; y < size.height; y += 5) expect(at(120, y)).toBe(0);
  });
});

describe.each(SCENES)('the scene %s', (scene) => {
  test('the scene has every tire on the floor and not on the wall, wherever they stand', () => {
    fc.assert(
      fc.property(fc.integer({ min: 180, max: 295 }), fc.integer({ min: 180, max: 295 }), (front, rear) => {
        const ground = groundOf(front, rear);
        expect(footOfWall(scene, size, ground)).toBeLessThan(Math.min(front, rear) - 5);
      }),
      { numRuns: 20 },
    );
  });

  test('the scene is drawn anew at each size: half of a large one is the small one', () => {
    const { matte, box, wheels } = seen(250, 230);
    const small = findGround(matte, size, box, wheels);
    const large: Ground = {
      ...small,
      left: small.left * 2,
      line: Float32Array.from({ length: small.line.length * 2 }, (_, x) => 2 * (small.line[x >> 1] ?? 0)),
      contacts: small.contacts.map(({ x, y }) => ({ x: 2 * x, y: 2 * y })),
      metrePixels: 2 * small.metrePixels,
      horizon: 2 * small.horizon,
    };
    const one = paintScene(scene, size, small).pixels;
    const other = paintScene(scene, { width: 800, height: 600 }, large).pixels;
    let sum = 0;
    for (let y = 0; y < size.height; y += 1) {
      for (let x = 0; x < size.width; x += 1) {
        const at = (row: number, column: number) => other[((2 * y + row) * 800 + 2 * x + column) * 3] ?? 0;
        sum += Math.abs((at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1)) / 4 - (one[(y * size.width + x) * 3] ?? 0));
      }
    }
    expect(sum / (size.width * size.height)).toBeLessThan(2);
  });

  test('the scene shows no bands: neighbouring levels mix in a gradient', () => {
    const { pixels, width } = paintScene(scene, size, groundOf(250, 230));
    // A row of the wall or sky, far above everything else.
    const row = Array.from({ length: 60 }, (_, x) => pixels[(4 * width + 170 + x) * 3] ?? 0);
    expect(new Set(row).size).toBeGreaterThan(1);
  });
});
