import { expect, test } from 'vitest';
import { applyParameters } from '../../../src/endpoints/render.360/apply-parameters.ts';
import { render360 } from '../../../src/endpoints/render.360/contract.ts';
import type { Result } from '../../../src/endpoints/render.360/result.ts';
import { coverageOf, viewAt } from '../../../src/endpoints/shared/frames/choose-frames.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { missizedPictures, readFixtureFile } from '../../support/fixture-artefacts.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal, UPLOAD_ID } from '../../support/refusals.ts';
import { testModeOutcome } from '../../support/test-mode.ts';

const SLUG = 'render.360';
const SCENARIOS = ['default', 'low_confidence', 'incomplete_circle', 'from_video'];
const whole = fixtureOf<Result>(SLUG);
const invalid = (param: string) => ({ code: 'parameter_invalid', param });
const files = (pictures: number, videos = 0) => [
  ...Array(pictures).fill({ mediaType: 'image/jpeg' }),
  ...Array(videos).fill({ mediaType: 'video/mp4' }),
];

test.each([
  [{ max_frames: 7 }, invalid('max_frames')],
  [{ max_frames: 73 }, invalid('max_frames')],
  [{ max_frames: 12.5 }, invalid('max_frames')],
  [{ max_frames: '12' }, invalid('max_frames')],
  [{ start_view: 'dashboard' }, invalid('start_view')],
  [{ scene: 'beach' }, invalid('scene')],
  [{ scene: 'showroom' }, null],
  [{ frames: 12 }, { code: 'parameter_unknown', param: 'frames' }],
  [{ max_frames: 8, start_view: 'rear' }, null],
  [{}, null],
])('render.360 validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(render360, parameters)).toEqual(refusal);
});

test('render.360 requires 1 to 72 files and converts multipart text to a number', () => {
  expect(jsonRefusal(render360, {})).toEqual({ code: 'parameter_missing', param: 'input_refs' });
  expect(jsonRefusal(render360, { input_refs: Array(73).fill(UPLOAD_ID) })).toEqual(invalid('input_refs'));
  expect(jsonRefusal(render360, { input_refs: Array(72).fill(UPLOAD_ID) })).toBeNull();
  expect(multipartRefusal(render360, { max_frames: '24' })).toBeNull();
});

test.each([
  [8, 0, null],
  [72, 0, null],
  [0, 1, null],
  [7, 0, 'images'],
  [0, 2, 'input_refs'],
  [8, 1, 'input_refs'],
])('render.360 with %d pictures and %d videos has %s as its invalid parameter', (pictures, videos, param) => {
  expect(render360.refine({ parameters: {}, files: files(pictures, videos) })?.param ?? null).toBe(param);
});

test('render.360 accepts only pictures directly and rejects wait', () => {
  expect(render360.files.mediaTypes).toContain('video/mp4');
  expect(render360.files.directMediaTypes.some((type) => type.startsWith('video/'))).toBe(false);
  expect(render360.acceptsWait).toBe(false);
});

test.each(SCENARIOS)('render.360 lists the frames of %s in order, as in its manifest', (scenario) => {
  const { frames, manifest } = fixtureOf<Result>(SLUG, scenario);
  expect(frames.map(({ index }) => index)).toEqual(frames.map((_, index) => index));
  const azimuths = frames.map(({ azimuth_degrees }) => azimuth_degrees);
  expect(azimuths).toEqual(azimuths.toSorted((a, b) => a - b));
  const { file } = manifest as unknown as { file: string };
  const drawn = JSON.parse(readFixtureFile(SLUG, file).toString()) as { frames: { azimuth_degrees: number }[] };
  expect(drawn.frames.map(({ azimuth_degrees }) => azimuth_degrees)).toEqual(azimuths);
});

test.each(SCENARIOS)('the coverage of the scenario %s is what live mode would say of the same frames', (scenario) => {
  const { frames, coverage } = fixtureOf<Result>(SLUG, scenario);
  expect(coverageOf(frames.map(({ azimuth_degrees: azimuthDegrees }) => ({ azimuthDegrees })))).toEqual(coverage);
  expect(frames.map(({ azimuth_degrees }) => viewAt(azimuth_degrees))).toEqual(frames.map(({ view }) => view));
});

test.each([
  ['default', 1_500],
  ['incomplete_circle', 938],
])('render.360 charges the scenario %s for the part of the circle that it covers', async (scenario, charged) => {
  const { chargedCredits } = await testModeOutcome<Result>(render360, {
    scenario,
    mediaTypes: Array(8).fill('image/jpeg'),
  });
  expect(chargedCredits).toBe(charged);
});

test.each(SCENARIOS)('render.360 states the coverage of the frames of %s', (scenario) => {
  const { frames, coverage } = fixtureOf<Result>(SLUG, scenario);
  const gaps = frames.map(
    ({ azimuth_degrees }, index) => (azimuth_degrees - (frames.at(index - 1)?.azimuth_degrees ?? 0) + 360) % 360,
  );
  expect(coverage.largest_gap_degrees).toBe(Math.max(...gaps));
  const views = frames.map(({ view }) => view);
  expect(coverage.missing_views.filter((view) => views.includes(view))).toEqual([]);
  expect(coverage.is_complete).toBe(coverage.missing_views.length === 0);
});

test.each([
  ['front', 0],
  ['rear', 4],
  ['front_left', 7],
] as const)('a viewer opens with the frame nearest to %s', (start_view, index) => {
  expect(applyParameters(whole, { start_view }).start_frame_index).toBe(index);
});

test('a viewer opens with the front left by default, or with the nearest frame', () => {
  expect(applyParameters(whole, {})).toEqual(whole);
  const incomplete = fixtureOf<Result>(SLUG, 'incomplete_circle');
  expect(applyParameters(incomplete, { start_view: 'rear' }).start_frame_index).toBe(3);
});

test('render.360 states the requested scene, while the manifest of the example says that its frames show none', () => {
  expect(applyParameters(whole, { scene: 'showroom' })).toEqual({ ...whole, scene: 'showroom' });
  const { file } = whole.manifest as unknown as { file: string };
  expect(JSON.parse(readFixtureFile(SLUG, file).toString())).toMatchObject({ scene: null });
});

test('the boxes of the default fixture lie within its frames, with files of the stated sizes', async () => {
  expect(await placesOutsideExample(SLUG, 'frame-0.jpg')).toEqual([]);
  expect(await missizedPictures(SLUG)).toEqual([]);
});
