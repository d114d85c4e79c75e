import { describe, expect, test } from 'vitest';
import { COMPASS_VIEWS } from '../../../src/contracts/vocabulary/pictures.ts';
import { endpointBySlug } from '../../../src/endpoints/list.ts';
import { videoOnboard } from '../../../src/endpoints/video.onboard/contract.ts';
import { FRAME_TASKS } from '../../../src/endpoints/video.onboard/request.ts';
import type { Result } from '../../../src/endpoints/video.onboard/result.ts';
import { placesOutside } from '../../support/example-pictures.ts';
import { jsonRefusal, parameterRefusal, UPLOAD_ID } from '../../support/refusals.ts';
import { testModeOutcome } from '../../support/test-mode.ts';

const video = { mediaTypes: ['video/mp4'] };
const run = [...FRAME_TASKS];
const runPrice = run.reduce((sum, slug) => sum + endpointBySlug(slug).priceCredits, 0);
const onboarded = (parameters: Record<string, unknown> = {}, scenario?: string) =>
  testModeOutcome<Result>(videoOnboard, { ...video, parameters, ...(scenario && { scenario }) });

describe('the request', () => {
  test('video.onboard accepts one video, as an upload', () => {
    expect(videoOnboard.files).toMatchObject({
      field: 'video',
      minimum: 1,
      maximum: 1,
      directMediaTypes: [],
      mediaTypes: ['video/mp4', 'video/quicktime', 'video/webm'],
    });
    expect(jsonRefusal(videoOnboard, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
    expect(jsonRefusal(videoOnboard, { input_refs: [UPLOAD_ID] })?.code).toBe('parameter_missing');
  });

  test.each([
    [{ views: [] }, 'parameter_invalid', 'views'],
    [{ views: ['left', 'left'] }, 'parameter_invalid', 'views'],
    [{ views: ['dashboard'] }, 'parameter_invalid', 'views.0'],
    [{ frames_per_view: 0 }, 'parameter_invalid', 'frames_per_view'],
    [{ frames_per_view: 6 }, 'parameter_invalid', 'frames_per_view'],
    [{ frames_per_view: 1.5 }, 'parameter_invalid', 'frames_per_view'],
    [{ run: ['vin.read'] }, 'parameter_invalid', 'run.0'],
    [{ run: 'plate.read' }, 'parameter_invalid', 'run'],
    [{ tasks: [] }, 'parameter_unknown', 'tasks'],
  ])('video.onboard refuses the parameters %j', (parameters, code, param) => {
    expect(parameterRefusal(videoOnboard, parameters)).toEqual({ code, param });
  });

  test('video.onboard costs 1,500 credits plus the tasks on the requested number of key frames', () => {
    const files = [{ mediaType: 'video/mp4' }];
    expect(videoOnboard.price({ parameters: {}, files })).toBe(1_500);
    expect(videoOnboard.price({ parameters: { run }, files })).toBe(1_500 + 8 * runPrice);
    expect(videoOnboard.price({ parameters: { run, views: ['left', 'rear'], frames_per_view: 3 }, files })).toBe(
      1_500 + 6 * runPrice,
    );
  });
});

describe('test mode', () => {
  test('video.onboard returns a key frame of every view in video order', async () => {
    const { result, chargedCredits } = await onboarded();
    expect(result.key_frames.map(({ view }) => view)).toEqual([...COMPASS_VIEWS]);
    const times = result.key_frames.map(({ time_offset_ms }) => time_offset_ms);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeLessThan(result.video.duration_ms);
    expect(result.coverage).toMatchObject({ fraction: 1, missing_views: [] });
    expect(result.key_frames.flatMap(({ outcomes }) => Object.keys(outcomes))).toEqual([]);
    expect(chargedCredits).toBe(1_500);
  });

  test('video.onboard runs and charges the requested endpoints on each key frame', async () => {
    const { result, chargedCredits, reservedCredits } = await onboarded({ run });
    for (const { outcomes } of result.key_frames) {
      expect(Object.keys(outcomes).toSorted()).toEqual(run.toSorted());
      for (const [slug, { charged_credits }] of Object.entries(outcomes)) {
        expect(charged_credits).toBe(endpointBySlug(slug).priceCredits);
      }
    }
    expect(result.summary).toMatchObject({ vehicle: { make: 'Talvera' }, plate: { text: 'VIS2047' } });
    expect(chargedCredits).toBe(reservedCredits);
  });

  test('video.onboard charges the frames found, not the frames requested', async () => {
    const { chargedCredits, reservedCredits } = await onboarded({ run: ['plate.read'], frames_per_view: 5 });
    expect({ chargedCredits, reservedCredits }).toEqual({ chargedCredits: 1_660, reservedCredits: 2_300 });
  });

  test('video.onboard returns key frames of the requested views only, indexed from 0', async () => {
    const { result } = await onboarded({ views: ['left', 'rear'] });
    expect(result.key_frames.map(({ index, view }) => [index, view])).toEqual([
      [0, 'rear'],
      [1, 'left'],
    ]);
    expect(result.coverage.views.front).toMatchObject({ is_covered: true, key_frames: 0 });
    expect(result.summary.views).toEqual(['rear', 'left']);
  });

  test('video.onboard settles an incomplete walk as partial and charges the covered views', async () => {
    const { status, result, chargedCredits } = await onboarded({}, 'incomplete_coverage');
    expect(status).toBe('partial');
    expect(result.coverage).toMatchObject({ fraction: 5 / 8, missing_views: ['rear_left', 'left', 'front_left'] });
    expect(chargedCredits).toBe(Math.round((1_500 * 5) / 8));
  });

  test('video.onboard charges nothing for a video without a vehicle', async () => {
    expect(await onboarded({ run }, 'empty_result')).toMatchObject({ status: 'succeeded', chargedCredits: 0 });
  });

  test('video.onboard keeps detections within their key frames', async () => {
    const { result } = await onboarded({ run });
    for (const frame of result.key_frames) expect(placesOutside(frame, { width: 480, height: 270 })).toEqual([]);
  });
});
