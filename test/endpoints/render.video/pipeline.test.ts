/** The pipeline with networks that say for each picture what a test tells them. */
import { describe, expect, test } from 'vitest';
import { COMPASS_VIEWS } from '../../../src/contracts/vocabulary/pictures.ts';
import { pipeline } from '../../../src/endpoints/render.video/pipeline.ts';
import type { Parameters } from '../../../src/endpoints/render.video/request.ts';
import type { Result } from '../../../src/endpoints/render.video/result.ts';
import { encodePicture } from '../../../src/inference/toolkit/images/encode-image.ts';
import {
  type DrawnFilm,
  encodePictures,
  type FilmToMake,
} from '../../../src/inference/toolkit/images/made-pictures.ts';
import { type Shot, scene, shots } from '../../inference/support/walk-scene.ts';

type Made = Omit<Result, 'video'> & { video: FilmToMake };

const make = async (taken: readonly Shot[], parameters: Partial<Parameters> = {}, msApart?: number) => {
  const { model, pictures } = scene(taken);
  const given =
    msApart === undefined ? pictures : pictures.map((each, index) => ({ ...each, timeOffsetMs: index * msApart }));
  return (await pipeline.create(model)({ pictures: given, parameters })) as Made;
};
const CIRCLE = shots(...COMPASS_VIEWS);
const NOTHING: Shot = { view: 'front', cells: null };
const viewsOf = ({ segments }: Made) => segments.map(({ view }) => view?.value);

describe('a film of pictures', () => {
  test('a film walks around the vehicle from its front left, whatever the order of the pictures', async () => {
    const mixed = [3, 0, 6, 1, 7, 4, 2, 5].map((index) => CIRCLE[index] as Shot);
    const made = await make(mixed);
    expect(viewsOf(made)).toEqual(['front_left', ...COMPASS_VIEWS.slice(0, 7)]);
    expect(made.segments[0]?.source).toEqual({ image_index: 4, time_offset_ms: null });
    expect(made.left_out).toEqual([]);
    expect([made.duration_seconds, made.frames_per_second, made.aspect_ratio]).toEqual([12.5, 30, '16:9']);
  });

  test('a film of a part of the circle begins and ends at the side that was not photographed', async () => {
    expect(viewsOf(await make(shots('front', 'rear_left', 'left', 'front_left')))).toEqual([
      'rear_left',
      'left',
      'front_left',
      'front',
    ]);
  });

  test('a film is not longer than wanted, and leaves out some of many pictures', async () => {
    const made = await make([...CIRCLE, ...CIRCLE, ...CIRCLE], { max_duration_seconds: 5 });
    expect(made.duration_seconds).toBeLessThanOrEqual(5);
    expect(made.segments).toHaveLength(12);
    expect(made.left_out.map(({ reason }) => reason)).toEqual(Array(12).fill('same_view_again'));
  });

  test.each([
    ['16:9', 16 / 9],
    ['1:1', 1],
    ['9:16', 9 / 16],
  ] as const)('the pictures of a film have the size of the film, in %s', async (aspect_ratio, ratio) => {
    const made = await make(CIRCLE.slice(0, 3), { aspect_ratio });
    expect([made.video.width / made.video.height, made.video.width % 2, made.video.height % 2]).toEqual([ratio, 0, 0]);
    const drawn = (await encodePictures(made, encodePicture)) as {
      video: DrawnFilm;
      poster: DrawnFilm['pictures'][number];
    };
    for (const { width, height, mediaType } of drawn.video.pictures) {
      expect([width, height, mediaType]).toEqual([made.video.width, made.video.height, 'image/jpeg']);
    }
    expect(drawn.poster).toEqual(drawn.video.pictures[0]);
  });

  test('a film leaves out pictures without the vehicle', async () => {
    const made = await make([...CIRCLE.slice(0, 3), NOTHING]);
    expect(made.left_out).toEqual([{ image_index: 3, time_offset_ms: null, reason: 'no_vehicle' }]);
    expect(made.segments).toHaveLength(3);
  });

  test.each([
    [2, /Only 2 pictures show/],
    [1, /Only 1 picture shows/],
    [0, /No picture shows/],
  ])('a film fails with %d usable pictures', async (usable, message) => {
    const making = make([...CIRCLE.slice(0, usable), NOTHING, NOTHING, NOTHING]);
    await expect(making).rejects.toMatchObject({
      code: 'input_unreadable',
      param: 'images',
      message: expect.stringMatching(message),
    });
  });
});

describe('a film of a video', () => {
  test('a film of a video keeps its order, names its moments and is not longer', async () => {
    const made = await make([...CIRCLE].reverse(), {}, 500);
    expect(viewsOf(made)).toEqual([...COMPASS_VIEWS].reverse());
    expect(made.segments.map(({ source }) => source.time_offset_ms)).toEqual([
      0, 500, 1000, 1500, 2000, 2500, 3000, 3500,
    ]);
    expect(made.duration_seconds).toBeLessThanOrEqual(3.5);
  });

  test('a film of a video without a vehicle fails', async () => {
    await expect(make([NOTHING, NOTHING], {}, 500)).rejects.toMatchObject({
      message: expect.stringMatching(/No frame of the video/),
    });
  });
});
