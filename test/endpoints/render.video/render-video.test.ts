import { expect, test } from 'vitest';
import { applyParameters, type Fixture } from '../../../src/endpoints/render.video/apply-parameters.ts';
import { renderVideo } from '../../../src/endpoints/render.video/contract.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { artefactsOf, missizedPictures, readFixtureFile } from '../../support/fixture-artefacts.ts';
import { jsonRefusal, parameterRefusal, UPLOAD_ID } from '../../support/refusals.ts';

const SLUG = 'render.video';
const whole = fixtureOf<Fixture>(SLUG);
const invalid = (param: string) => ({ code: 'parameter_invalid', param });
const files = (pictures: number, videos = 0) => [
  ...Array(pictures).fill({ mediaType: 'image/webp' }),
  ...Array(videos).fill({ mediaType: 'video/quicktime' }),
];

test.each([
  [{ aspect_ratio: '21:9' }, invalid('aspect_ratio')],
  [{ aspect_ratio: 1 }, invalid('aspect_ratio')],
  [{ max_duration_seconds: 4 }, invalid('max_duration_seconds')],
  [{ max_duration_seconds: 121 }, invalid('max_duration_seconds')],
  [{ max_duration_seconds: '30' }, invalid('max_duration_seconds')],
  [{ duration: 30 }, { code: 'parameter_unknown', param: 'duration' }],
  [{ aspect_ratio: '9:16', max_duration_seconds: 5 }, null],
  [{}, null],
])('render.video validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(renderVideo, parameters)).toEqual(refusal);
});

test('render.video requires 1 to 60 files', () => {
  expect(jsonRefusal(renderVideo, {})).toEqual({ code: 'parameter_missing', param: 'input_refs' });
  expect(jsonRefusal(renderVideo, { input_refs: Array(61).fill(UPLOAD_ID) })).toEqual(invalid('input_refs'));
});

test.each([
  [3, 0, null],
  [60, 0, null],
  [0, 1, null],
  [2, 0, 'images'],
  [0, 2, 'input_refs'],
  [3, 1, 'input_refs'],
])('render.video with %d pictures and %d videos has %s as its invalid parameter', (pictures, videos, param) => {
  expect(renderVideo.refine({ parameters: {}, files: files(pictures, videos) })?.param ?? null).toBe(param);
});

test.each(['16:9', '1:1', '9:16'] as const)(
  'the aspect_ratio %s gives a video and a poster of that ratio',
  (aspect_ratio) => {
    const { video, poster, ...rest } = applyParameters(whole, { aspect_ratio });
    const [across = 0, down = 1] = aspect_ratio.split(':').map(Number);
    expect(rest.aspect_ratio).toBe(aspect_ratio);
    expect((video.width ?? 0) / (video.height ?? 1)).toBeCloseTo(across / down, 2);
    expect([poster.width, poster.height]).toEqual([video.width, video.height]);
  },
);

test('render.video defaults to 16:9, no longer than the shortest max_duration_seconds', () => {
  expect(applyParameters(whole, {})).toMatchObject({ aspect_ratio: '16:9', duration_seconds: 5 });
});

test('each video is an MP4 under 100 KB whose header states its duration', () => {
  for (const { file } of artefactsOf(SLUG).filter((artefact) => artefact.file.endsWith('.mp4'))) {
    const bytes = readFixtureFile(SLUG, file);
    expect(bytes.length).toBeLessThan(100 * 1024);
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    // Movie header box, version 0: type, version and flags, two times, timescale, duration.
    const header = bytes.indexOf('mvhd');
    expect(bytes.readUInt32BE(header + 20) / bytes.readUInt32BE(header + 16)).toBeCloseTo(whole.duration_seconds, 1);
  }
});

test('segments follow one another to the end of the video', () => {
  const { segments, duration_seconds } = whole;
  expect(segments[0]?.start_seconds).toBe(0);
  expect(segments.at(-1)?.end_seconds).toBe(duration_seconds);
  for (const [index, { start_seconds }] of segments.slice(1).entries()) {
    expect(start_seconds).toBeLessThanOrEqual(segments[index]?.end_seconds ?? 0);
  }
});

test('posters have the stated sizes', async () => {
  expect(await missizedPictures(SLUG)).toEqual([]);
});
