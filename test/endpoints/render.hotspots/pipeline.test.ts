/** The pipeline with networks of known outputs, on one picture and on the frames of a spin set. */
import { describe, expect, test } from 'vitest';
import { pipeline } from '../../../src/endpoints/render.hotspots/pipeline.ts';
import type { ResolvedParameters } from '../../../src/endpoints/render.hotspots/references.ts';
import type { Result } from '../../../src/endpoints/render.hotspots/result.ts';
import type { Model } from '../../../src/inference/models/model.ts';
import { cellsWithin, damageModel } from '../../inference/support/damage-models.ts';
import { modelSaying, picture, rows, sent } from '../../inference/support/saying-model.ts';

/** From the left, with a dent on the door. Cells of 8 of 64 pixels. */
const car = {
  vehicle: cellsWithin([1, 1], [6, 6]),
  'front_door.left': cellsWithin([1, 1], [3, 4]),
  'front_wheel.left': cellsWithin([4, 4], [5, 5]),
};
const dented = damageModel({ dent: cellsWithin([1, 2], [2, 3]) }, car);

const run = async (model: Model, parameters: Partial<ResolvedParameters> = {}, frames = 1) =>
  (await pipeline.create(model)({ pictures: sent(...Array(frames).fill(picture)), parameters })) as Result;

test('render.hotspots marks the damage and the parts, where the networks see them', async () => {
  const { hotspots, unplaced_damages } = await run(dented);
  expect(unplaced_damages).toEqual([]);
  expect(hotspots.map(({ kind, label }) => [kind, label])).toEqual([
    ['damage', 'Dent on the left front door'],
    ['part', expect.any(String)],
    ['part', expect.any(String)],
  ]);
  expect(new Set(hotspots.map(({ label }) => label))).toEqual(
    new Set(['Dent on the left front door', 'Left front door', 'Left front wheel']),
  );
  const [dent] = hotspots;
  // Cells 1 and 2 across, 2 and 3 down: their middle is at 16 and 24 of 64 pixels.
  expect(dent?.placements).toEqual([
    { frame_index: 0, x_normalized: expect.closeTo(0.25, 1), y_normalized: expect.closeTo(0.375, 1), prominence: 1 },
  ]);
});

test('render.hotspots marks a plate on the face that it is on, and none beside it', async () => {
  const decoder = {
    name: 'yolo-pose',
    output: 'output0',
    score: 0.2,
    overlap: 0.5,
    maximum: 9,
    keypoints: 4,
    values: 2,
  };
  const plateAt = (x: number) => {
    const corners = [x - 6, 30, x + 6, 30, x + 6, 34, x - 6, 34];
    const output0 = rows(...[x, 32, 12, 4, 0.9, ...corners].map((value) => [value]));
    return modelSaying({ detector: { labels: ['plate'], decoder, says: { output0 } } });
  };
  const front = { vehicle: cellsWithin([1, 1], [6, 6]), front_bumper: cellsWithin([1, 3], [3, 5]) };
  const labelsWith = async (plates: Model) => {
    const { uses, ...model } = damageModel({ dent: [] }, front);
    return (await run({ ...model, uses: { ...uses, plates } })).hotspots.map(({ label }) => label);
  };
  expect(await labelsWith(plateAt(20))).toEqual(['Front bumper', 'Front plate']);
  expect(await labelsWith(plateAt(50))).toEqual(['Front bumper']);
});

test('render.hotspots keeps the requested kinds and parts that are sure enough', async () => {
  const labels = async (parameters: Partial<ResolvedParameters>) =>
    (await run(dented, parameters)).hotspots.map(({ label }) => label);
  expect(await labels({ kinds: ['damage'] })).toEqual(['Dent on the left front door']);
  expect(await labels({ parts: ['front_wheel'] })).toEqual(['Left front wheel']);
  expect(await labels({ min_confidence: 1 })).toEqual([]);
});

test('render.hotspots marks nothing in a picture without a vehicle', async () => {
  expect(await run(damageModel({ dent: cellsWithin([1, 2], [2, 3]) }, { hood: [] }))).toEqual({
    hotspots: [],
    unplaced_damages: [],
  });
});

describe('with named jobs', () => {
  const JOB = 'job_1111111111111111111111';
  const frame = (index: number, azimuth_degrees: number) => ({
    azimuth_degrees,
    image: {
      id: `art_1111111${index}`,
      object: 'artefact' as const,
      media_type: 'image/jpeg',
      bytes: 5,
      width: 64,
      height: 64,
      url: `https://api.example/v1/artefacts/art_1111111${index}.jpg?signature=a`,
      expires_at: 1,
    },
  });
  const frames = [frame(1, 210), frame(2, 270)];
  const damage = {
    id: 'damage_4',
    type: 'dent',
    part: 'front_door',
    side: 'left',
    confidence: 0.7,
    bbox: { x: 40, y: 8, width: 8, height: 16 },
  };
  const results: Record<string, unknown> = {
    [JOB]: { frames },
    detected: { damages: [damage] },
    inspected: { parts: [{ part: 'front_door', side: 'left', damages: [{ ...damage, size: null }] }] },
  };
  const resolve = (parameters: Record<string, unknown>) =>
    pipeline.withReferences?.(parameters, async (id) => results[id] ?? null) as Promise<ResolvedParameters>;

  test('render.hotspots reads the pictures of the named spin set, and sees them from where it says', async () => {
    const parameters = await resolve({ job_id: JOB });
    expect(
      pipeline.furtherInputs?.({ ...parameters }).map(({ storageKey, mediaType }) => [storageKey, mediaType]),
    ).toEqual([
      ['artefacts/art_11111111.jpg', 'image/jpeg'],
      ['artefacts/art_11111112.jpg', 'image/jpeg'],
    ]);
    const { hotspots } = await run(dented, parameters, 2);
    const door = hotspots.find(({ label }) => label === 'Left front door');
    expect(door?.placements.map(({ frame_index, prominence }) => [frame_index, prominence])).toEqual([
      [0, 0.5],
      [1, 1],
    ]);
  });

  test('render.hotspots reads no other picture without a named spin set', async () => {
    expect(pipeline.furtherInputs?.(await resolve({ damage_job_id: 'detected' }).then((all) => ({ ...all })))).toEqual(
      [],
    );
  });

  test('render.hotspots places a damage of the same picture by its box, and one of other pictures by what is seen', async () => {
    const placementOf = async (damage_job_id: string) => {
      const { hotspots } = await run(dented, await resolve({ damage_job_id }));
      const [first] = hotspots;
      expect(first?.damage?.damage_id).toBe('damage_4');
      return first?.placements[0];
    };
    expect(await placementOf('detected')).toMatchObject({ x_normalized: 0.688, y_normalized: 0.25 });
    expect(await placementOf('inspected')).toMatchObject({ x_normalized: expect.closeTo(0.25, 1) });
  });

  test('render.hotspots fails when the result of a named job has been deleted', async () => {
    await expect(resolve({ job_id: 'job_gone' })).rejects.toMatchObject({ code: 'input_unreadable', param: 'job_id' });
  });
});
