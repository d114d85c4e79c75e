/** What is seen on pictures → hotspots. */
import { describe, expect, it } from 'vitest';
import { labelOf, type NamedDamage, placeHotspots } from '../../../src/endpoints/shared/place-hotspots.ts';
import type { SeenPicture, Spot } from '../../../src/endpoints/shared/spot-finder.ts';

const spot = (given: Partial<Spot>): Spot => ({
  type: null,
  part: 'front_door',
  side: 'left',
  confidence: 0.9,
  x: 0.5,
  y: 0.5,
  ...given,
});
const seen = (azimuthDegrees: number | null, ...spots: Spot[]): SeenPicture => ({
  spots,
  azimuthDegrees,
  size: { width: 100, height: 100 },
});
const named = (given: Partial<NamedDamage>): NamedDamage => ({
  id: 'damage_7',
  type: 'dent',
  part: 'front_door',
  side: 'left',
  severity: { value: 'minor', confidence: 0.8 },
  confidence: 0.8,
  at: null,
  ...given,
});
const dent = spot({ type: 'dent', confidence: 0.6 });

describe('on one picture', () => {
  it('hotspots on one picture mark damages before parts, each most confident first, every find for itself', () => {
    const { hotspots, unplaced_damages } = placeHotspots(
      [
        seen(270, spot({}), dent, spot({ part: 'hood', side: 'none', confidence: 0.95 }), {
          ...dent,
          confidence: 0.7,
          x: 0.2,
        }),
      ],
      null,
    );
    expect(hotspots.map(({ id, kind, label, confidence }) => [id, kind, label, confidence])).toEqual([
      ['hotspot_1', 'damage', 'Dent on the left front door', 0.7],
      ['hotspot_2', 'damage', 'Dent on the left front door', 0.6],
      ['hotspot_3', 'part', 'Hood', 0.95],
      ['hotspot_4', 'part', 'Left front door', 0.9],
    ]);
    expect(hotspots[0]).toMatchObject({
      damage: { damage_id: null, type: 'dent', severity: null },
      placements: [{ frame_index: 0, x_normalized: 0.2, y_normalized: 0.5, prominence: 1 }],
    });
    expect(unplaced_damages).toEqual([]);
  });

  it('the hotspot of a named damage on the same picture is where its job saw it, with its id and severity', () => {
    const { hotspots } = placeHotspots([seen(270, spot({}), dent)], [named({ at: { x: 0.1, y: 0.2 } })]);
    expect(hotspots.filter(({ kind }) => kind === 'damage')).toEqual([
      expect.objectContaining({
        confidence: 0.8,
        damage: { damage_id: 'damage_7', type: 'dent', severity: { value: 'minor', confidence: 0.8 } },
        placements: [{ frame_index: 0, x_normalized: 0.1, y_normalized: 0.2, prominence: 1 }],
      }),
    ]);
  });
});

describe('on the frames of a spin', () => {
  const frames = [
    seen(225, dent, spot({ x: 0.3, confidence: 0.5 })),
    seen(270, spot({ x: 0.4 }), spot({ x: 0.6, confidence: 0.95 })),
    seen(90, spot({ side: 'right' })),
    seen(315, { ...dent, x: 0.7, confidence: 0.8 }, { ...dent, x: 0.1, confidence: 0.4 }),
  ];

  it('a hotspot follows the same part or damage through a spin, and takes the surest find of a frame', () => {
    const { hotspots } = placeHotspots(frames, null);
    expect(
      hotspots.map(({ label, confidence, placements }) => [
        label,
        confidence,
        placements.map(({ frame_index, x_normalized }) => [frame_index, x_normalized]),
      ]),
    ).toEqual([
      [
        'Dent on the left front door',
        0.8,
        [
          [0, 0.5],
          [3, 0.7],
        ],
      ],
      [
        'Left front door',
        0.95,
        [
          [0, 0.3],
          [1, 0.6],
        ],
      ],
      ['Right front door', 0.9, [[2, 0.5]]],
    ]);
  });

  it('a hotspot follows no damage on an unknown part through a spin', () => {
    const lost = spot({ type: 'scratch', part: null, side: null });
    expect(placeHotspots([seen(0, lost), seen(45, lost)], null).hotspots).toHaveLength(2);
  });

  it('a named damage is placed where its like is seen in a spin, or listed with the reason', () => {
    const { hotspots, unplaced_damages } = placeHotspots(frames, [
      named({ id: 'seen' }),
      named({ id: 'of-an-unknown-side', side: null, confidence: 0.3 }),
      named({ id: 'another-type', type: 'rust' }),
      named({ id: 'hidden', part: 'hood', side: 'none' }),
      named({ id: 'on-no-part', part: null, side: null }),
    ]);
    const damages = hotspots.filter(({ kind }) => kind === 'damage');
    expect(
      damages.map(({ damage, confidence, placements }) => [damage?.damage_id, confidence, placements.length]),
    ).toEqual([
      ['seen', 0.8, 2],
      ['of-an-unknown-side', 0.3, 2],
    ]);
    expect(unplaced_damages.map(({ damage_id, reason }) => [damage_id, reason])).toEqual([
      ['another-type', 'not_found'],
      ['hidden', 'not_shown'],
      ['on-no-part', 'not_found'],
    ]);
  });
});

it('a picture in which nothing is seen has no hotspots', () => {
  expect(placeHotspots([seen(null)], null)).toEqual({ hotspots: [], unplaced_damages: [] });
});

it.each([
  [{ type: 'broken_glass', part: null, side: null }, 'Broken glass'],
  [{ type: null, part: 'front_plate', side: 'none' }, 'Front plate'],
  [{ type: 'scratch', part: 'front_wheel', side: null }, 'Scratch on the front wheel'],
] as const)('a hotspot of %j has the label "%s"', (given, label) => {
  expect(labelOf(given)).toBe(label);
});
