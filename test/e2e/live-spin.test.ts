/**
 * A spin and a film in live mode, by HTTP against the whole service with the models of a clone: pictures out of order, hotspots on its frames and
 * on one picture, what is left out, and what nothing is charged for. The film is decoded again, and is itself sent. The pictures are those that the project draws.
 */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Job, VehicleInferenceClient } from '../../src/client/index.ts';
import type { DecodeFigures } from '../../src/inference/video/messages.ts';
import { watchVideo } from '../../src/inference/video/watch-video.ts';
import { PROJECT_DIRECTORY, useProcesses } from '../support/processes.ts';
import { untilAvailable } from '../support/until.ts';
import { type RunningService, startWholeService } from './service-client.ts';

const FIXTURES = `${PROJECT_DIRECTORY}src/endpoints/render.360/fixtures/`;
/** In the order of their files, and where the camera was drawn. */
const DRAWN = [316, 2, 44, 137, 91, 179, 226, 268];
const drawn = DRAWN.map((_, index) =>
  readFileSync(`${FIXTURES}${index === 0 ? 'example' : `example-${index + 1}`}.jpg`),
).map((bytes) => new Uint8Array(bytes));
const noVehicle = new Uint8Array(readFileSync(`${PROJECT_DIRECTORY}training/examples/day-miles-seven-segment.jpg`));

const processes = useProcesses();
let service: RunningService;
let client: VehicleInferenceClient;
let spin: Job<'render.360'>;
let film: Job<'render.video'>;

const apart = (one: number, other: number) => Math.min((one - other + 360) % 360, (other - one + 360) % 360);
const fetched = async (url: string) => {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
};
const spinOf = async (images: Uint8Array<ArrayBuffer>[]) =>
  client.waitFor(await client.submit('render.360', { images }));

beforeAll(async () => {
  service = await startWholeService(processes, mkdtempSync(join(tmpdir(), 'live-spin-')));
  client = new VehicleInferenceClient({ apiKey: service.description.keys.live, baseUrl: service.description.apiUrl });
  for (const endpoint of [
    'render.360',
    'render.video',
    'video.onboard',
    'render.hotspots',
    'viewer.hotspots',
  ] as const) {
    await untilAvailable(client, endpoint);
  }
  spin = await spinOf(drawn);
});
afterAll(() => service.process.stop());

describe('a spin of eight pictures', () => {
  it('a spin of eight pictures has every picture where its camera was, and is charged whole', () => {
    expect([spin.status, spin.livemode, spin.credits]).toEqual([
      'succeeded',
      true,
      { reserved: 1_500, charged: 1_500 },
    ]);
    const { frames, coverage, left_out, start_frame_index } = spin.result ?? {};
    expect(frames?.map(({ source }) => source.image_index)).toEqual([1, 2, 4, 3, 5, 6, 7, 0]);
    for (const { azimuth_degrees, source } of frames ?? []) {
      expect(apart(azimuth_degrees, DRAWN[source.image_index ?? 0] ?? 0)).toBeLessThan(23);
    }
    expect(coverage).toMatchObject({ degrees: 360, is_complete: true, missing_views: [] });
    expect([left_out, start_frame_index]).toEqual([[], 7]);
  });

  it('a spin has frames of one size, with vehicles of one height on one ground, and a manifest of them', async () => {
    const { frames = [], manifest } = spin.result ?? {};
    for (const { image } of frames) {
      const { format, width, height, exif } = await sharp(await fetched(image.url)).metadata();
      expect([format, width, height, exif]).toEqual(['jpeg', image.width, image.height, undefined]);
    }
    expect(new Set(frames.map(({ image }) => `${image.width} × ${image.height}`)).size).toBe(1);
    expect(new Set(frames.map(({ vehicle_bbox: { y, height } }) => y + height)).size).toBe(1);
    const shown = JSON.parse(String(await fetched(manifest?.url ?? ''))) as { frames: { azimuth_degrees: number }[] };
    expect(shown.frames.map(({ azimuth_degrees }) => azimuth_degrees)).toEqual(
      frames.map(({ azimuth_degrees }) => azimuth_degrees),
    );
  });

  it('the frames of a spin have exposures nearer to each other than the pictures had', () => {
    // As drawn: stops by which each picture was changed, by its place in the request.
    const changed = [-0.5, 0.3, -0.2, -0.4, 0.6, -0.3, 0, 0.4];
    const spread = (values: number[]) => Math.max(...values) - Math.min(...values);
    const left = (spin.result?.frames ?? []).map(
      ({ corrections, source }) => corrections.exposure_ev + (changed[source.image_index ?? 0] ?? 0),
    );
    expect(spread(left)).toBeLessThan(0.3 * spread(changed));
  });
});

describe('the same spin in front of a scene', () => {
  it('a spin in front of a scene has it standing still behind every frame, for the same price, and says so', async () => {
    const job = await client.waitFor(await client.submit('render.360', { images: drawn, scene: 'showroom' }));
    const { frames = [], scene, manifest } = job.result ?? {};
    expect([job.status, job.credits?.charged, scene]).toEqual(['succeeded', 1_500, 'showroom']);
    expect(JSON.parse(String(await fetched(manifest?.url ?? '')))).toMatchObject({ scene: 'showroom' });
    const corners: number[][] = [];
    for (const [index, { image, vehicle_bbox: box }] of frames.entries()) {
      const [file, plain] = [await fetched(image.url), await fetched(spin.result?.frames[index]?.image.url ?? '')];
      const { xmpAsString = '' } = await sharp(file).metadata();
      const edits = [...xmpAsString.matchAll(/<stEvt:parameters>(\w+)</g)].map(([, edit]) => edit);
      expect(edits).toEqual(['spin_frame', 'background_replacement']);
      const mean = async (of: Buffer, left: number, top: number) => {
        const { channels } = await sharp(
          await sharp(of).extract({ left, top, width: 8, height: 8 }).toBuffer(),
        ).stats();
        return channels.map((channel) => channel.mean);
      };
      const middle = [Math.round(box.x + box.width / 2), Math.round(box.y + 0.6 * box.height)] as const;
      const [kept, before] = [await mean(file, ...middle), await mean(plain, ...middle)];
      for (const [channel, level] of kept.entries()) expect(Math.abs(level - (before[channel] ?? 0))).toBeLessThan(4);
      corners.push(await mean(file, 0, 0));
      expect(await mean(plain, 0, 0)).not.toEqual(corners[0]);
    }
    for (const corner of corners) {
      for (const [channel, level] of corner.entries())
        expect(Math.abs(level - (corners[0]?.[channel] ?? 0))).toBeLessThan(2);
    }
  });
});

describe('hotspots', () => {
  it('hotspots are followed through the frames of a spin, and returned for a viewer under the same ids', async () => {
    const placed = await client.run('render.hotspots', { job_id: spin.id });
    const hotspots = placed.result?.hotspots ?? [];
    const wheel = hotspots.find(({ part, side }) => part === 'front_wheel' && side === 'left');
    const frames = wheel?.placements.map(({ frame_index }) => spin.result?.frames[frame_index]?.view);
    expect(frames).toContain('left');
    expect(frames).not.toContain('right');
    expect(hotspots.map(({ label }) => label)).toEqual(expect.arrayContaining(['Hood', 'Front plate', 'Rear plate']));
    const shown = await client.run('viewer.hotspots', { job_id: spin.id, hotspots_job_id: placed.id });
    expect(shown.result?.hotspots.map(({ id, label }) => [id, label])).toEqual(
      hotspots.map(({ id, label }) => [id, label]),
    );
    expect([placed.credits?.charged, shown.credits?.charged]).toEqual([100, 100]);
  });

  it('hotspots lie on the parts of one picture, and on the damages of a named job with their ids', async () => {
    const [image] = drawn.slice(3);
    if (!image) throw new Error('no picture');
    const found = await client.run('damage.detect', { image });
    const { hotspots, unplaced_damages } =
      (await client.run('render.hotspots', { image, damage_job_id: found.id })).result ?? {};
    const damages = found.result?.damages ?? [];
    expect(damages.length).toBeGreaterThan(0);
    expect(hotspots?.flatMap(({ damage }) => damage?.damage_id ?? []).toSorted()).toEqual(
      damages.map(({ id }) => id).toSorted(),
    );
    expect(unplaced_damages).toEqual([]);
    for (const { kind, placements } of hotspots ?? []) {
      expect([kind, placements.map(({ frame_index }) => frame_index)]).toEqual([kind, [0]]);
    }
    expect(hotspots?.filter(({ kind }) => kind === 'part').length).toBeGreaterThan(3);
  });
});

describe('a film of eight pictures', () => {
  let path: string;

  beforeAll(async () => {
    film = await client.waitFor(await client.submit('render.video', { images: drawn }));
    path = join(mkdtempSync(join(tmpdir(), 'live-film-')), 'film.mp4');
    writeFileSync(path, await fetched(film.result?.video.url ?? ''));
  });

  it('a film of eight pictures walks around the vehicle from its front left, and is charged whole', () => {
    expect([film.status, film.credits]).toEqual(['succeeded', { reserved: 1_500, charged: 1_500 }]);
    const { segments, left_out, duration_seconds, frames_per_second, aspect_ratio } = film.result ?? {};
    expect(segments?.map(({ source }) => source.image_index)).toEqual([0, 1, 2, 4, 3, 5, 6, 7]);
    expect([left_out, duration_seconds, frames_per_second, aspect_ratio]).toEqual([[], 12.5, 30, '16:9']);
  });

  it('a film has the size, length and frames that its result states, and begins with its poster', async () => {
    const { video, poster, duration_seconds = 0 } = film.result ?? {};
    const ended: DecodeFigures[] = [];
    const { facts, first } = await watchVideo(
      path,
      { signal: new AbortController().signal, onEnd: (figures) => ended.push(figures) },
      async ({ facts, frames }) => {
        const taken: Uint8Array[] = [];
        for await (const { jpeg } of frames) taken.push(jpeg);
        return { facts, first: taken[0] };
      },
    );
    expect([facts.width, facts.height, facts.durationMs]).toEqual([
      video?.width,
      video?.height,
      duration_seconds * 1_000,
    ]);
    expect(ended.map(({ decodedFrames }) => decodedFrames)).toEqual([duration_seconds * 30]);
    expect([poster?.width, poster?.height]).toEqual([video?.width, video?.height]);
    const pixelsOf = (file: Uint8Array | undefined) => sharp(file).raw().toBuffer();
    const [shown, wanted] = await Promise.all([pixelsOf(first), pixelsOf(await fetched(poster?.url ?? ''))]);
    const difference = shown.reduce((sum, level, index) => sum + Math.abs(level - (wanted[index] ?? 0)), 0);
    expect(difference / shown.length).toBeLessThan(3);
  });

  it('a film and its poster say what was done, and nothing else', async () => {
    const named = '<stEvt:parameters>film_frame</stEvt:parameters>';
    expect(readFileSync(path).toString('latin1')).toContain(named);
    const { xmpAsString, exif } = await sharp(await fetched(film.result?.poster.url ?? '')).metadata();
    expect(xmpAsString).toContain(named);
    expect(exif).toBeUndefined();
  });

  it('a film can itself be sent, as a spin and as an upright film, with the moments that they show', async () => {
    const { id } = await client.upload(new Uint8Array(readFileSync(path)));
    const [turned, upright] = await Promise.all([
      client.waitFor(await client.submit('render.360', { input_refs: [id] })),
      client.waitFor(await client.submit('render.video', { input_refs: [id], aspect_ratio: '9:16' })),
    ]);
    expect([turned.status, upright.status]).toEqual(['succeeded', 'succeeded']);
    expect(turned.result?.coverage.degrees).toBeGreaterThanOrEqual(315);
    // Of each frame, the picture that the film shows then.
    const { segments = [] } = film.result ?? {};
    for (const { source, azimuth_degrees } of turned.result?.frames ?? []) {
      const seconds = (source.time_offset_ms ?? Number.NaN) / 1_000;
      const showing = segments.filter(
        ({ start_seconds, end_seconds }) => start_seconds <= seconds && seconds < end_seconds,
      );
      const azimuths = showing.map(({ source: { image_index } }) => DRAWN[image_index ?? 0] ?? 0);
      expect(Math.min(...azimuths.map((azimuth) => apart(azimuth, azimuth_degrees)))).toBeLessThan(46);
      expect(source.image_index).toBeNull();
    }
    const { video, segments: shown = [], duration_seconds = 99 } = upright.result ?? {};
    expect((video?.width ?? 0) / (video?.height ?? 1)).toBe(9 / 16);
    const moments = shown.map(({ source }) => source.time_offset_ms ?? 0);
    expect(moments).toEqual(moments.toSorted((a, b) => a - b));
    expect(duration_seconds).toBeLessThanOrEqual(12.5);
  });

  it('a film fails without charge where one picture alone shows the vehicle', async () => {
    const [picture] = drawn;
    if (!picture) throw new Error('no picture');
    const { status, error, credits } = await client.waitFor(
      await client.submit('render.video', { images: [noVehicle, picture, noVehicle] }),
    );
    expect([status, error?.code, credits?.charged]).toEqual(['failed', 'input_unreadable', 0]);
    expect(error?.message).toMatch(/Only 1 picture shows/);
  });
});

describe('pictures that make no whole spin', () => {
  it('pictures that make no whole spin make a part of one, which is charged in part and says what was left out', async () => {
    const { status, result, credits } = await spinOf([
      ...drawn.slice(0, 3),
      ...Array.from({ length: 5 }, () => noVehicle),
    ]);
    expect(status).toBe('succeeded');
    expect(result?.left_out.map(({ image_index, reason }) => [image_index, reason])).toEqual(
      [3, 4, 5, 6, 7].map((index) => [index, 'no_vehicle']),
    );
    expect(result?.coverage).toMatchObject({ degrees: 135, is_complete: false });
    expect(credits).toEqual({ reserved: 1_500, charged: 563 });
  });

  it('a spin of pictures without a vehicle fails without charge', async () => {
    const { status, error, credits } = await spinOf(Array.from({ length: 8 }, () => noVehicle));
    expect([status, error?.code, credits?.charged]).toEqual(['failed', 'input_unreadable', 0]);
    expect(error?.message).toMatch(/No picture shows a vehicle/);
  });

  it.each([
    ['a single one', 1],
    ['two hundred', 200],
  ])('a number of pictures that makes no spin is refused at once: %s', async (_, count) => {
    const [image] = drawn;
    if (!image) throw new Error('no picture');
    const images = Array.from({ length: count }, () => image);
    await expect(client.submit('render.360', { images })).rejects.toMatchObject({
      code: expect.stringMatching(/./),
      status: 400,
    });
  });
});
