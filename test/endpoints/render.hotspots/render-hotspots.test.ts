import { expect, test } from 'vitest';
import type { Result as Detected } from '../../../src/endpoints/damage.detect/result.ts';
import type { Result as SpinSet } from '../../../src/endpoints/render.360/result.ts';
import { applyParameters } from '../../../src/endpoints/render.hotspots/apply-parameters.ts';
import { renderHotspots } from '../../../src/endpoints/render.hotspots/contract.ts';
import type { Result } from '../../../src/endpoints/render.hotspots/result.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { readFixtureFile } from '../../support/fixture-artefacts.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';
import { testModeOutcome } from '../../support/test-mode.ts';

const SLUG = 'render.hotspots';
const JOB_ID = 'job_1111111111111111111111';
const whole = fixtureOf<Result>(SLUG);
const invalid = (param: string) => ({ code: 'parameter_invalid', param });

test.each([
  [{ job_id: 'upl_1111111111111111111111' }, invalid('job_id')],
  [{ job_id: [JOB_ID] }, invalid('job_id')],
  [{ damage_job_id: 7 }, invalid('damage_job_id')],
  [{ kinds: [] }, invalid('kinds')],
  [{ kinds: ['damage', 'damage'] }, invalid('kinds')],
  [{ kinds: ['feature'] }, invalid('kinds.0')],
  [{ parts: ['engine'] }, invalid('parts.0')],
  [{ min_confidence: 1.5 }, invalid('min_confidence')],
  [{ labels: true }, { code: 'parameter_unknown', param: 'labels' }],
  [{ damage_job_id: JOB_ID, kinds: ['damage'], parts: ['hood'], min_confidence: 0.5 }, null],
  [{}, null],
])('render.hotspots validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(renderHotspots, parameters)).toEqual(refusal);
});

test('render.hotspots leaves the picture optional in the schema and converts multipart text to numbers and lists', () => {
  expect(jsonRefusal(renderHotspots, { job_id: JOB_ID })).toBeNull();
  expect(multipartRefusal(renderHotspots, { kinds: 'part', min_confidence: '0.3' })).toBeNull();
  expect(multipartRefusal(renderHotspots, { job_id: [JOB_ID, JOB_ID] })).toEqual(invalid('job_id'));
});

test.each([
  [{}, 1, null],
  [{ job_id: JOB_ID }, 0, null],
  [{ damage_job_id: JOB_ID }, 1, null],
  [{ job_id: JOB_ID }, 1, 'job_id'],
  [{}, 0, 'image'],
  [{ damage_job_id: JOB_ID }, 0, 'image'],
])('render.hotspots requires either a picture or a spin set: %j with %d pictures', (parameters, pictures, param) => {
  const files = Array(pictures).fill({ mediaType: 'image/jpeg' });
  expect(renderHotspots.refine({ parameters, files })?.param ?? null).toBe(param);
});

test('render.hotspots accepts spin sets, and jobs that find damages', () => {
  expect(renderHotspots.jobReferences).toEqual([
    { parameter: 'job_id', endpoints: ['render.360'] },
    {
      parameter: 'damage_job_id',
      endpoints: ['damage.detect', 'damage.severity', 'inspections'],
      samePicture: ['damage.detect', 'damage.severity'],
    },
  ]);
});

test('render.hotspots places each hotspot once on a picture, and once per visible frame of a spin set', () => {
  const onPicture = applyParameters(whole, {}).hotspots;
  expect(onPicture.length).toBeGreaterThan(0);
  expect(onPicture.flatMap(({ placements }) => placements.map(({ frame_index }) => frame_index))).toEqual(
    onPicture.map(() => 0),
  );
  expect(applyParameters(whole, { job_id: JOB_ID, damage_job_id: JOB_ID })).toEqual(whole);
});

test('render.hotspots uses a frame of the spin set as the example picture', () => {
  expect(readFixtureFile(SLUG, 'example.jpg').equals(readFixtureFile('render.360', 'frame-7.jpg'))).toBe(true);
});

test('render.hotspots filters hotspots by kinds, parts and min_confidence', () => {
  const labels = (parameters: Parameters<typeof applyParameters>[1]) =>
    applyParameters(whole, { job_id: JOB_ID, ...parameters }).hotspots.map(({ label }) => label);
  expect(labels({ kinds: ['part'] })).toEqual(['Left front wheel', 'Left headlight']);
  expect(labels({ parts: ['rear_bumper', 'headlight'] })).toEqual(['Scuff on the rear bumper', 'Left headlight']);
  expect(labels({ min_confidence: 0.96 })).toEqual(['Left front wheel', 'Left headlight']);
});

test('render.hotspots returns damage ids and unplaced damages only with a damage job', () => {
  const { hotspots, unplaced_damages } = applyParameters(whole, { job_id: JOB_ID });
  expect(hotspots.map(({ damage }) => damage?.damage_id ?? null)).toEqual(hotspots.map(() => null));
  expect(unplaced_damages).toEqual([]);
  expect(applyParameters(whole, { damage_job_id: JOB_ID }).unplaced_damages).toHaveLength(1);
  expect(applyParameters(whole, { damage_job_id: JOB_ID, kinds: ['part'] }).unplaced_damages).toEqual([]);
});

const DETECTED = fixtureOf<Detected>('damage.detect');
const SPIN_SET = fixtureOf<SpinSet>('render.360');
const DAMAGES_JOB_ID = 'job_2222222222222222222222';

const placed = async (found: unknown, spinSet: unknown = SPIN_SET) => {
  const parameters = { job_id: JOB_ID, damage_job_id: DAMAGES_JOB_ID };
  const results = { [JOB_ID]: spinSet, [DAMAGES_JOB_ID]: found };
  return (await testModeOutcome<Result>(renderHotspots, { parameters, results, mediaTypes: [] })).result;
};

test.each(['damage.detect', 'damage.severity'])(
  'render.hotspots places every damage of the named %s job on its part, or lists it',
  async (slug) => {
    const found = fixtureOf<Detected>(slug).damages;
    const { hotspots, unplaced_damages } = await placed(fixtureOf(slug));
    const shown = hotspots.flatMap(({ damage, part, side }) =>
      damage ? [{ id: damage.damage_id, type: damage.type, part, side }] : [],
    );
    const listed = unplaced_damages.map(({ damage_id, type, part, side }) => ({ id: damage_id, type, part, side }));
    const expected = found.map(({ id, type, part, side }) => ({ id, type, part, side }));
    const byId = (a: { id: string | null }, b: { id: string | null }) => `${a.id}`.localeCompare(`${b.id}`);
    expect([...shown, ...listed].sort(byId)).toEqual(expected.sort(byId));
    expect(shown).toHaveLength(found.length);
    expect(new Set(hotspots.map(({ id }) => id)).size).toBe(hotspots.length);
  },
);

test('render.hotspots labels the damages of the named job and keeps their severities', async () => {
  const { hotspots } = await placed(fixtureOf('damage.severity'));
  expect(hotspots.find(({ damage }) => damage?.damage_id === 'damage_1')).toMatchObject({
    label: 'Broken light on the left taillight',
    damage: { severity: { value: 'severe', confidence: 0.93 } },
  });
});

test('render.hotspots lists a damage on an unknown part as not found, and one that the camera cannot see as not shown', async () => {
  const [one, other] = DETECTED.damages;
  const damages = [
    { ...one, part: null },
    { ...other, part: 'roof', side: 'none' },
  ];
  const { unplaced_damages } = await placed({ ...DETECTED, damages });
  expect(unplaced_damages.map(({ reason }) => reason)).toEqual(['not_found', 'not_shown']);
});

test('render.hotspots refers to the frames of the named spin set only', async () => {
  const incomplete = fixtureOf<SpinSet>('render.360', 'incomplete_circle');
  const { hotspots, unplaced_damages } = await placed(DETECTED, incomplete);
  const frames = hotspots.flatMap(({ placements }) => placements.map(({ frame_index }) => frame_index));
  expect(Math.max(...frames)).toBeLessThan(incomplete.frames.length);
  // Nobody photographed the rear.
  expect(unplaced_damages.map(({ part }) => part)).toContain('rear_bumper');
});

test('render.hotspots fails after the result of a named job is deleted', async () => {
  const parameters = { job_id: JOB_ID };
  const outcome = await testModeOutcome<Result>(renderHotspots, { parameters, mediaTypes: [] });
  expect(outcome).toMatchObject({ status: 'failed', error: { code: 'input_unreadable' }, chargedCredits: 0 });
});
