/** The pipeline with networks of known outputs: what it finds itself, and what a named job found. */
import { expect, test } from 'vitest';
import type { Result as SpinSet } from '../../../src/endpoints/render.360/result.ts';
import type { Result as Placed } from '../../../src/endpoints/render.hotspots/result.ts';
import { pipeline } from '../../../src/endpoints/viewer.hotspots/pipeline.ts';
import type { ResolvedParameters } from '../../../src/endpoints/viewer.hotspots/references.ts';
import type { Result } from '../../../src/endpoints/viewer.hotspots/result.ts';
import { cellsWithin, damageModel } from '../../inference/support/damage-models.ts';
import { picture, sent } from '../../inference/support/saying-model.ts';
import { fixtureOf } from '../../support/example-pictures.ts';

const model = damageModel(
  { dent: cellsWithin([1, 2], [2, 3]) },
  { vehicle: cellsWithin([1, 1], [6, 6]), 'front_door.left': cellsWithin([1, 1], [3, 4]) },
);
const placed = fixtureOf<Placed>('render.hotspots').hotspots;
const { frames: drawn } = fixtureOf<SpinSet>('render.360');
const frames = drawn.map((frame, index) => ({
  ...frame,
  image: { ...frame.image, url: `https://api.example/v1/artefacts/art_1111111${index + 1}.jpg` },
})) as NonNullable<ResolvedParameters['frames']>;

const run = async (parameters: ResolvedParameters, pictures = 0) =>
  (await pipeline.create(model)({
    pictures: sent(...Array(pictures).fill(picture)),
    parameters: { ...parameters },
  })) as Result;

test('viewer.hotspots lists each hotspot of the frames once, with its place on every frame', async () => {
  const { hotspots, frames: shown } = await run({ frames: frames.slice(0, 2) }, 2);
  expect(hotspots.map(({ id, label }) => [id, label])).toEqual([
    ['hotspot_1', 'Dent on the left front door'],
    ['hotspot_2', 'Left front door'],
  ]);
  expect(
    shown.map(({ frame_index, hotspots: on }) => [frame_index, on.map(({ hotspot_id }) => hotspot_id).toSorted()]),
  ).toEqual([
    [0, ['hotspot_1', 'hotspot_2']],
    [1, ['hotspot_1', 'hotspot_2']],
  ]);
});

test('viewer.hotspots returns the hotspots of a named job under their ids, and looks at no picture', async () => {
  const parameters = { frames, placed, hotspots_job_id: 'job_1111111111111111111111' };
  expect(pipeline.furtherInputs?.({ ...parameters })).toEqual([]);
  const { hotspots } = await run(parameters);
  expect(hotspots.map(({ id, damage }) => [id, damage?.damage_id])).toEqual(
    placed.map(({ id, damage }) => [id, damage?.damage_id]),
  );
});

test('viewer.hotspots reads the pictures of the spin set without a named job', () => {
  expect(pipeline.furtherInputs?.({ frames })).toHaveLength(frames.length);
});

test('viewer.hotspots keeps the requested kinds that are sure enough', async () => {
  const kinds = async (parameters: ResolvedParameters) =>
    (await run({ frames, placed, ...parameters })).hotspots.map(({ kind }) => kind);
  expect(new Set(await kinds({ kinds: ['part'] }))).toEqual(new Set(['part']));
  expect(await kinds({ min_confidence: 1 })).toEqual([]);
});
