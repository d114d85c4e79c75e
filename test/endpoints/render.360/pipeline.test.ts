/** The pipeline with networks that say for each picture what a test tells them. */
import { describe, expect, test } from 'vitest';
import { COMPASS_VIEWS } from '../../../src/contracts/vocabulary/pictures.ts';
import { SCENES } from '../../../src/contracts/vocabulary/renders.ts';
import { pipeline } from '../../../src/endpoints/render.360/pipeline.ts';
import type { Parameters } from '../../../src/endpoints/render.360/request.ts';
import type { Result } from '../../../src/endpoints/render.360/result.ts';
import type { Model } from '../../../src/inference/models/model.ts';
import { encodePicture } from '../../../src/inference/toolkit/images/encode-image.ts';
import {
  encodePictures,
  type MadePicture,
  type PictureToDraw,
} from '../../../src/inference/toolkit/images/made-pictures.ts';
import { type Shot, scene, shots } from '../../inference/support/walk-scene.ts';

const make = async (taken: readonly Shot[], parameters: Partial<Parameters> = {}) => {
  const { model, pictures } = scene(taken);
  return (await pipeline.create(model)({ pictures, parameters })) as Result;
};

const CIRCLE = shots(...COMPASS_VIEWS);
const MIXED = [3, 0, 6, 1, 7, 4, 2, 5].map((index) => CIRCLE[index] as Shot);
const CORNERS = [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
] as const;
const { model: NOTHING } = scene([{ view: 'front', cells: null }]);
const sources = ({ frames }: Result) => frames.map(({ source }) => source.image_index);

describe('the frames', () => {
  test('the frames of a spin are in the order of the walk, whatever the order of the pictures', async () => {
    const made = await make(MIXED);
    expect(made.frames.map(({ view }) => view)).toEqual(COMPASS_VIEWS);
    expect(sources(made)).toEqual([1, 3, 6, 0, 5, 7, 2, 4]);
    expect(made.frames.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(made.coverage).toEqual({ degrees: 360, is_complete: true, largest_gap_degrees: 45, missing_views: [] });
    expect(made.left_out).toEqual([]);
    expect(pipeline.chargedShare?.(made)).toBe(1);
  });

  test('a spin opens with the requested view', async () => {
    expect((await make(CIRCLE)).start_frame_index).toBe(7);
    expect((await make(CIRCLE, { start_view: 'rear' })).start_frame_index).toBe(4);
  });

  test('a spin leaves out pictures that cannot be frames, each with its reason', async () => {
    const made = await make([
      ...CIRCLE.slice(0, 3),
      { view: 'front', cells: null },
      {
        view: 'front',
        cells: [
          [0, 0],
          [7, 7],
        ],
      },
      {
        view: 'rear',
        cells: [
          [3, 3],
          [3, 3],
        ],
      },
    ]);
    expect(made.left_out).toEqual([
      { image_index: 3, time_offset_ms: null, reason: 'no_vehicle' },
      { image_index: 4, time_offset_ms: null, reason: 'too_close' },
      { image_index: 5, time_offset_ms: null, reason: 'too_far' },
    ]);
    expect(sources(made)).toEqual([0, 1, 2]);
    expect(made.coverage).toMatchObject({ degrees: 135, is_complete: false });
    expect(pipeline.chargedShare?.(made)).toBe(0.375);
  });

  test('a spin has no more frames than wanted, and whole vehicles before cut-off ones', async () => {
    const cut: Shot[] = CIRCLE.map((shot) => ({
      ...shot,
      cells: [
        [0, 2],
        [4, 5],
      ],
    }));
    const made = await make([...cut, ...CIRCLE], { max_frames: 8 });
    expect(sources(made)).toEqual([8, 9, 10, 11, 12, 13, 14, 15]);
    expect(made.left_out.map(({ image_index, reason }) => [image_index, reason])).toEqual(
      cut.map((_, index) => [index, 'same_view_again']),
    );
  });

  test('the frames of a spin are made alike in size, place and light, and state what was changed', async () => {
    const made = await make([
      ...CIRCLE.slice(0, 6),
      {
        view: 'left',
        cells: [
          [1, 1],
          [3, 3],
        ],
        level: 188,
      },
      {
        view: 'front_left',
        cells: [
          [2, 1],
          [6, 6],
        ],
      },
    ]);
    const boxes = made.frames.map(({ vehicle_bbox }) => vehicle_bbox);
    expect(new Set(boxes.map(({ height }) => height)).size).toBe(1);
    expect(new Set(boxes.map(({ y }) => y)).size).toBe(1);
    const [left] = made.frames.filter(({ view }) => view === 'left');
    expect(left?.corrections).toMatchObject({ roll_degrees: 0, exposure_ev: expect.any(Number) });
    expect(left?.corrections.exposure_ev).toBeLessThan(-0.5);
    expect(left?.corrections.scale).toBeGreaterThan(made.frames[0]?.corrections.scale ?? 0);
  });
});

test('the files of a spin are pictures of one size, and a manifest of the same frames', async () => {
  const made = await make(CIRCLE);
  const encoded = (await encodePictures(made, encodePicture)) as Result & {
    manifest: { content: Uint8Array; mediaType: string };
  };
  const sizes = encoded.frames.map(({ image }) => [image.width, image.height]);
  expect(new Set(sizes.map(String)).size).toBe(1);
  expect(encoded.frames[0]?.image).toMatchObject({ object: 'made_file', mediaType: 'image/jpeg', extension: 'jpg' });
  expect(encoded.manifest.mediaType).toBe('application/json');
  const manifest = JSON.parse(new TextDecoder().decode(encoded.manifest.content)) as {
    frame_size: { width: number; height: number };
    frames: { index: number; azimuth_degrees: number }[];
  };
  expect([manifest.frame_size.width, manifest.frame_size.height]).toEqual(sizes[0]);
  expect(manifest.frames.map(({ azimuth_degrees }) => azimuth_degrees)).toEqual(
    made.frames.map(({ azimuth_degrees }) => azimuth_degrees),
  );
});

describe('with a scene', () => {
  const drawn = async (taken: readonly Shot[], parameters: Partial<Parameters>) => {
    const frames = (await make(taken, parameters)).frames as unknown as { image: PictureToDraw }[];
    const pictures: MadePicture[] = [];
    for (const { image } of frames) pictures.push(await image.draw());
    return pictures;
  };
  const at = ({ pixels, width }: MadePicture, x: number, y: number) => [
    ...pixels.subarray((y * width + x) * 3, (y * width + x) * 3 + 3),
  ];
  // Of another size, from another distance, and cut off by the lower edge.
  const TAKEN: Shot[] = [
    ...CIRCLE.slice(0, 6),
    {
      view: 'left',
      cells: [
        [1, 1],
        [3, 3],
      ],
    },
    {
      view: 'front_left',
      cells: [
        [2, 3],
        [5, 7],
      ],
    },
  ];

  test.each(SCENES)(
    'the scene %s stands still behind the frames, in which the vehicle keeps its pixels',
    async (scene) => {
      const [before, after] = [await drawn(TAKEN, {}), await drawn(TAKEN, { scene })];
      const { width = 0, height = 0 } = after[0] ?? {};
      const [first] = after;
      for (const [index, frame] of after.entries()) {
        const plain = before[index];
        if (!first || !plain) throw new Error('no frame');
        expect([frame.width, frame.height]).toEqual([plain.width, plain.height]);
        expect(at(frame, width >> 1, height >> 1)).toEqual(at(plain, width >> 1, height >> 1));
        expect(at(frame, 1, 1)).not.toEqual(at(plain, 1, 1));
        for (const [x, y] of CORNERS)
          expect(at(frame, x * (width - 1), y * 2)).toEqual(at(first, x * (width - 1), y * 2));
        expect([plain.edits, frame.edits]).toEqual([['spin_frame'], ['spin_frame', 'background_replacement']]);
      }
    },
  );

  test('a scene has a shadow below the vehicle, but not where the lower edge of a picture cuts the vehicle off', async () => {
    const frames = await drawn(TAKEN, { scene: 'studio_white' });
    const below = frames.map((frame) => at(frame, frame.width >> 1, Math.ceil(0.8 * frame.height) + 1)[0] ?? 0);
    const [cut, ...whole] = below.toReversed();
    for (const level of whole) expect(level).toBeLessThan((cut ?? 0) - 5);
  });

  test('a frame keeps its photograph where no vehicle can be outlined', async () => {
    const { model, pictures } = scene(CIRCLE);
    let isBlind = false;
    const seeing: Model = {
      ...model,
      run: async (file, inputs) =>
        isBlind && file === 'vehicle' ? NOTHING.run(file, inputs) : model.run(file, inputs),
    };
    const made = (await pipeline.create(seeing)({ pictures, parameters: { scene: 'showroom' } })) as Result;
    isBlind = true;
    const image = made.frames[0]?.image as unknown as PictureToDraw;
    const [plain] = await drawn(CIRCLE, {});
    expect(await image.draw()).toEqual(plain);
  });

  test('a spin states its scene in the result and the manifest, or null without one', async () => {
    const manifestOf = ({ manifest }: Result) => (manifest as unknown as { value: { scene: unknown } }).value;
    const [without, made] = [await make(CIRCLE), await make(CIRCLE, { scene: 'forecourt' })];
    expect([without.scene, manifestOf(without).scene]).toEqual([null, null]);
    expect([made.scene, manifestOf(made).scene]).toEqual(['forecourt', 'forecourt']);
  });
});

test('frames of a video have their moments as sources', async () => {
  const { model, pictures } = scene([...CIRCLE, { view: 'front', cells: null }]);
  const frames = pictures.map((each, index) => ({ ...each, timeOffsetMs: index * 500 }));
  const made = (await pipeline.create(model)({ pictures: frames, parameters: {} })) as Result;
  expect(made.frames.map(({ source }) => source)).toEqual(
    CIRCLE.map((_, index) => ({ image_index: null, time_offset_ms: index * 500 })),
  );
  expect(made.left_out).toEqual([{ image_index: null, time_offset_ms: 4_000, reason: 'no_vehicle' }]);
});

test('a spin fails when no picture shows a vehicle', async () => {
  const nothing = CIRCLE.map((shot) => ({ ...shot, cells: null }));
  await expect(make(nothing)).rejects.toMatchObject({ code: 'input_unreadable', param: 'images' });
});
