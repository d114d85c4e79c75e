import { expect, test } from 'vitest';
import type { Result as SpinSet } from '../../../src/endpoints/render.360/result.ts';
import type { Result as Placed } from '../../../src/endpoints/render.hotspots/result.ts';
import { applyParameters } from '../../../src/endpoints/viewer.hotspots/apply-parameters.ts';
import { viewerHotspots } from '../../../src/endpoints/viewer.hotspots/contract.ts';
import type { Result } from '../../../src/endpoints/viewer.hotspots/result.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { jsonRefusal, UPLOAD_ID } from '../../support/refusals.ts';
import { testModeOutcome } from '../../support/test-mode.ts';

const SLUG = 'viewer.hotspots';
const JOB_ID = 'job_1111111111111111111111';
const whole = fixtureOf<Result>(SLUG);
const invalid = (param: string) => ({ code: 'parameter_invalid', param });

test.each([
  [{}, { code: 'parameter_missing', param: 'job_id' }],
  [{ job_id: 'job_0' }, invalid('job_id')],
  [{ job_id: null }, invalid('job_id')],
  [{ job_id: JOB_ID, hotspots_job_id: '' }, invalid('hotspots_job_id')],
  [{ job_id: JOB_ID, kinds: 'damage' }, invalid('kinds')],
  [{ job_id: JOB_ID, min_confidence: -1 }, invalid('min_confidence')],
  [
    { job_id: JOB_ID, frame: 3 },
    { code: 'parameter_unknown', param: 'frame' },
  ],
  [
    { job_id: JOB_ID, input_ref: UPLOAD_ID },
    { code: 'parameter_unknown', param: 'input_ref' },
  ],
  [
    { job_id: JOB_ID, input_refs: [UPLOAD_ID] },
    { code: 'parameter_unknown', param: 'input_refs' },
  ],
  [{ job_id: JOB_ID, hotspots_job_id: JOB_ID, kinds: ['damage'], min_confidence: 0.5 }, null],
  [{ job_id: JOB_ID }, null],
])('viewer.hotspots validates the parameters %j', (body, refusal) => {
  expect(jsonRefusal(viewerHotspots, body)).toEqual(refusal);
});

test('viewer.hotspots accepts spin sets and their hotspots', () => {
  expect(viewerHotspots.jobReferences).toEqual([
    { parameter: 'job_id', endpoints: ['render.360'] },
    { parameter: 'hotspots_job_id', endpoints: ['render.hotspots'] },
  ]);
});

test('viewer.hotspots returns the hotspots of render.hotspots per frame', () => {
  const placed = fixtureOf<Placed>('render.hotspots').hotspots.flatMap(({ id, placements }) =>
    placements.map((placement) => ({ hotspot_id: id, ...placement })),
  );
  const shown = whole.frames.flatMap(({ frame_index, hotspots }) => hotspots.map((one) => ({ ...one, frame_index })));
  const byPlace = (a: (typeof placed)[number], b: (typeof placed)[number]) =>
    a.frame_index - b.frame_index || a.hotspot_id.localeCompare(b.hotspot_id);
  expect(shown.sort(byPlace)).toEqual(placed.sort(byPlace));
});

test('viewer.hotspots chooses the frame with the highest prominence as the best frame', () => {
  for (const { id, best_frame_index } of whole.hotspots) {
    const seen = whole.frames.flatMap(({ frame_index, hotspots }) =>
      hotspots.filter(({ hotspot_id }) => hotspot_id === id).map(({ prominence }) => ({ frame_index, prominence })),
    );
    expect(seen.toSorted((a, b) => b.prominence - a.prominence)[0]?.frame_index).toBe(best_frame_index);
  }
});

test('viewer.hotspots omits filtered hotspots from the frames, and frames without hotspots', () => {
  const { hotspots, frames } = applyParameters(whole, { job_id: JOB_ID, kinds: ['part'] });
  const ids = hotspots.map(({ id }) => id);
  expect(ids).toEqual(['hotspot_4', 'hotspot_5']);
  expect(frames.every((frame) => frame.hotspots.length > 0)).toBe(true);
  expect(new Set(frames.flatMap((frame) => frame.hotspots.map(({ hotspot_id }) => hotspot_id)))).toEqual(new Set(ids));
});

test('viewer.hotspots returns damage ids only with a hotspots job', () => {
  const idsOf = ({ hotspots }: Result) => hotspots.flatMap(({ damage }) => (damage ? [damage.damage_id] : []));
  expect(idsOf(applyParameters(whole, { job_id: JOB_ID }))).toEqual([null, null, null]);
  expect(applyParameters(whole, { job_id: JOB_ID, hotspots_job_id: JOB_ID })).toEqual(whole);
});

const HOTSPOTS_JOB_ID = 'job_2222222222222222222222';

test('viewer.hotspots returns the hotspots of the named job under the same ids', async () => {
  const [first, ...others] = fixtureOf<Placed>('render.hotspots').hotspots;
  const hotspots = others.map((hotspot) => (hotspot.damage ? { ...hotspot, label: 'Renamed' } : hotspot));
  const { result } = await testModeOutcome<Result>(viewerHotspots, {
    parameters: { job_id: JOB_ID, hotspots_job_id: HOTSPOTS_JOB_ID },
    results: { [JOB_ID]: fixtureOf('render.360'), [HOTSPOTS_JOB_ID]: { hotspots, unplaced_damages: [] } },
    mediaTypes: [],
  });
  expect(result.hotspots.map(({ best_frame_index: _best, ...hotspot }) => hotspot)).toEqual(
    hotspots.map(({ placements: _placements, ...hotspot }) => hotspot),
  );
  expect(result.frames.flatMap((frame) => frame.hotspots.map(({ hotspot_id }) => hotspot_id))).not.toContain(first?.id);
});

test('viewer.hotspots refers to the frames of the named spin set only', async () => {
  const incomplete = fixtureOf<SpinSet>('render.360', 'incomplete_circle');
  const { result } = await testModeOutcome<Result>(viewerHotspots, {
    parameters: { job_id: JOB_ID },
    results: { [JOB_ID]: incomplete },
    mediaTypes: [],
  });
  const indexes = result.frames.map(({ frame_index }) => frame_index);
  expect(Math.max(...indexes)).toBeLessThan(incomplete.frames.length);
  expect(result.hotspots.every(({ best_frame_index }) => indexes.includes(best_frame_index))).toBe(true);
});
