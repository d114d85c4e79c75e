/** Which pictures become frames, and what they cover. */
import { describe, expect, it } from 'vitest';
import { chargedShare } from '../../../../src/endpoints/render.360/charged-share.ts';
import { chooseFrames, coverageOf, viewAt } from '../../../../src/endpoints/shared/frames/choose-frames.ts';

const at = (azimuthDegrees: number, score = 1) => ({ azimuthDegrees, score });
const azimuthsOf = (frames: { azimuthDegrees: number }[]) => frames.map(({ azimuthDegrees }) => azimuthDegrees);

describe('the choice of frames', () => {
  it('the choice of frames keeps all that are wanted, round the circle', () => {
    expect(azimuthsOf(chooseFrames([at(200), at(3), at(90)], 8))).toEqual([3, 90, 200]);
  });

  it('the choice of frames drops the picture that is missed least, also across the front', () => {
    expect(azimuthsOf(chooseFrames([at(0), at(45, 0.5), at(50), at(180)], 3))).toEqual([0, 50, 180]);
    expect(azimuthsOf(chooseFrames([at(358), at(2, 0.5), at(90), at(180)], 3))).toEqual([90, 180, 358]);
  });

  it('the choice of frames from 200 pictures is evenly spread', () => {
    const chosen = chooseFrames(
      Array.from({ length: 200 }, (_, index) => at((index * 77) % 360)),
      36,
    );
    expect(chosen).toHaveLength(36);
    expect(coverageOf(chosen).largest_gap_degrees).toBeLessThan(20);
  });
});

it.each([
  [0, 'front'],
  [22.4, 'front'],
  [22.6, 'front_right'],
  [270, 'left'],
  [338, 'front'],
  [359.9, 'front'],
])('the camera at %d° sees the %s', (azimuth, view) => {
  expect(viewAt(azimuth)).toBe(view);
});

describe('the coverage', () => {
  it('the coverage of a whole circle is complete, and charged whole', () => {
    const coverage = coverageOf(Array.from({ length: 8 }, (_, index) => at(index * 45)));
    expect(coverage).toEqual({ degrees: 360, is_complete: true, largest_gap_degrees: 45, missing_views: [] });
    expect(chargedShare({ coverage })).toBe(1);
  });

  it('the coverage of a part of the circle names what is missing, and is charged in part', () => {
    const coverage = coverageOf([at(0), at(44), at(91), at(268), at(316)]);
    expect(coverage).toEqual({
      degrees: 225,
      is_complete: false,
      largest_gap_degrees: 177,
      missing_views: ['rear_right', 'rear', 'rear_left'],
    });
    expect(chargedShare({ coverage })).toBe(0.625);
  });

  it('the coverage of a single frame, or of several at one place, is an eighth', () => {
    expect(coverageOf([at(90)])).toMatchObject({ degrees: 45, largest_gap_degrees: 360 });
    expect(coverageOf([at(90), at(90), at(90)])).toMatchObject({ degrees: 45, largest_gap_degrees: 360 });
  });
});
