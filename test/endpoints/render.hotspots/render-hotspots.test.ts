import { expect, test } from '@jest/globals';
import { applyParameters } from '../../../src/endpoints/render.hotspots/apply-parameters.ts';
import { renderHotspots } from '../../../src/endpoints/render.hotspots/contract.ts';
import type { Result } from '../../../src/endpoints/render.hotspots/result.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { readFixtureFile } from '../../support/fixture-artefacts.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

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
])('%j is refused or accepted as the parameters say', (parameters, refusal) => {
  expect(parameterRefusal(renderHotspots, parameters)).toEqual(refusal);
});

test('the schema leaves the picture open, and multipart text is read as numbers and lists', () => {
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
])('%j with %d pictures: exactly one of picture and spin set', (parameters, pictures, param) => {
  const files = Array(pictures).fill({ mediaType: 'image/jpeg' });
  expect(renderHotspots.refine({ parameters, files })?.param ?? null).toBe(param);
});

test('the jobs it builds on are spin sets, and those that find damages', () => {
  expect(renderHotspots.jobReferences).toEqual([
    { parameter: 'job_id', endpoints: ['render.360'] },
    { parameter: 'damage_job_id', endpoints: ['damage.detect', 'damage.severity', 'inspections'] },
  ]);
});

test('on a picture each hotspot has one place; on a spin set one for each frame that shows it', () => {
  const onPicture = applyParameters(whole, {}).hotspots;
  expect(onPicture.length).toBeGreaterThan(0);
  expect(onPicture.flatMap(({ placements }) => placements.map(({ frame_index }) => frame_index))).toEqual(
    onPicture.map(() => 0),
  );
  expect(applyParameters(whole, { job_id: JOB_ID, damage_job_id: JOB_ID })).toEqual(whole);
});

test('the example picture is the frame of the spin set that its places are taken from', () => {
  expect(readFixtureFile(SLUG, 'example.jpg').equals(readFixtureFile('render.360', 'frame-7.jpg'))).toBe(true);
});

test('kinds, parts and min_confidence leave hotspots out', () => {
  const labels = (parameters: Parameters<typeof applyParameters>[1]) =>
    applyParameters(whole, { job_id: JOB_ID, ...parameters }).hotspots.map(({ label }) => label);
  expect(labels({ kinds: ['part'] })).toEqual(['Left front wheel', 'Left headlight']);
  expect(labels({ parts: ['rear_bumper', 'headlight'] })).toEqual(['Scuff on the rear bumper', 'Left headlight']);
  expect(labels({ min_confidence: 0.96 })).toEqual(['Left front wheel', 'Left headlight']);
});

test('ids of damages and what could not be placed come with a damage job only', () => {
  const { hotspots, unplaced_damages } = applyParameters(whole, { job_id: JOB_ID });
  expect(hotspots.map(({ damage }) => damage?.damage_id ?? null)).toEqual(hotspots.map(() => null));
  expect(unplaced_damages).toEqual([]);
  expect(applyParameters(whole, { damage_job_id: JOB_ID }).unplaced_damages).toHaveLength(1);
  expect(applyParameters(whole, { damage_job_id: JOB_ID, kinds: ['part'] }).unplaced_damages).toEqual([]);
});
