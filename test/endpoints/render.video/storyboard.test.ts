/** When a film shows which picture, for every number of pictures and every length. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FRAMES_PER_SECOND, segmentsOf, timingOf } from '../../../src/endpoints/render.video/storyboard.ts';

test('a film is as long as its segments, never longer than wanted, and every picture is seen alone or in a fade', () => {
  fc.assert(
    fc.property(fc.integer({ min: 3, max: 60 }), fc.integer({ min: 5, max: 120 }), (pictures, longest) => {
      const timing = timingOf(pictures, longest);
      const segments = segmentsOf(pictures, timing);
      expect(segments[0]?.start_seconds).toBe(0);
      expect(segments.at(-1)?.end_seconds).toBe(timing.frames / FRAMES_PER_SECOND);
      expect(timing.frames / FRAMES_PER_SECOND).toBeLessThanOrEqual(longest);
      expect(timing.fadeFrames).toBeLessThan(timing.stepFrames);
      for (const [index, { start_seconds }] of segments.slice(1).entries()) {
        const { start_seconds: before = 0, end_seconds: until = 0 } = segments[index] ?? {};
        expect(start_seconds).toBeGreaterThan(before);
        expect(start_seconds).toBeLessThanOrEqual(until);
      }
    }),
  );
});
