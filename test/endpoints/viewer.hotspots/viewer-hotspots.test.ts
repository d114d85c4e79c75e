import { expect, test } from '@jest/globals';
import type { Result as Placed } from '../../../src/endpoints/render.hotspots/result.ts';
import { applyParameters } from '../../../src/endpoints/viewer.hotspots/apply-parameters.ts';
import { viewerHotspots } from '../../../src/endpoints/viewer.hotspots/contract.ts';
import type { Result } from '../../../src/endpoints/viewer.hotspots/result.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { jsonRefusal, UPLOAD_ID } from '../../support/refusals.ts';

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
])('%j is refused or accepted as the parameters say', (body, refusal) => {
  expect(jsonRefusal(viewerHotspots, body)).toEqual(refusal);
});

test('the jobs it builds on are spin sets and their hotspots', () => {
  expect(viewerHotspots.jobReferences).toEqual([
    { parameter: 'job_id', endpoints: ['render.360'] },
    { parameter: 'hotspots_job_id', endpoints: ['render.hotspots'] },
  ]);
});

test('it shows the hotspots of render.hotspots, frame by frame', () => {
  const placed = fixtureOf<Placed>('render.hotspots').hotspots.flatMap(({ id, placements }) =>
    placements.map((placement) => ({ hotspot_id: id, ...placement })),
  );
  const shown = whole.frames.flatMap(({ frame_index, hotspots }) => hotspots.map((one) => ({ ...one, frame_index })));
  const byPlace = (a: (typeof placed)[number], b: (typeof placed)[number]) =>
    a.frame_index - b.frame_index || a.hotspot_id.localeCompare(b.hotspot_id);
  expect(shown.sort(byPlace)).toEqual(placed.sort(byPlace));
});

test('the best frame of a hotspot is where it is most prominent', () => {
  for (const { id, best_frame_index } of whole.hotspots) {
    const seen = whole.frames.flatMap(({ frame_index, hotspots }) =>
      hotspots.filter(({ hotspot_id }) => hotspot_id === id).map(({ prominence }) => ({ frame_index, prominence })),
    );
    expect(seen.toSorted((a, b) => b.prominence - a.prominence)[0]?.frame_index).toBe(best_frame_index);
  }
});

test('what is not asked for is on no frame, and frames without hotspots are left out', () => {
  const { hotspots, frames } = applyParameters(whole, { job_id: JOB_ID, kinds: ['part'] });
  const ids = hotspots.map(({ id }) => id);
  expect(ids).toEqual(['hotspot_4', 'hotspot_5']);
  expect(frames.every((frame) => frame.hotspots.length > 0)).toBe(true);
  expect(new Set(frames.flatMap((frame) => frame.hotspots.map(({ hotspot_id }) => hotspot_id)))).toEqual(new Set(ids));
});

test('ids of damages come with a hotspots job only', () => {
  const idsOf = ({ hotspots }: Result) => hotspots.flatMap(({ damage }) => (damage ? [damage.damage_id] : []));
  expect(idsOf(applyParameters(whole, { job_id: JOB_ID }))).toEqual([null, null, null]);
  expect(applyParameters(whole, { job_id: JOB_ID, hotspots_job_id: JOB_ID })).toEqual(whole);
});
