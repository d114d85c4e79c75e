/** Films are what was planned, as the decoder of this service sees them, and no process outlives its film. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Mp4Demuxer } from '@napi-rs/webcodecs';
import sharp from 'sharp';
import { afterAll, expect, test } from 'vitest';
import { inspectArtefact } from '../../../../src/artefacts/inspection/inspect-artefact.ts';
import { provenancePacket } from '../../../../src/artefacts/provenance.ts';
import { encodeFilm } from '../../../../src/inference/video/encoding/encode-film.ts';
import type { FilmPlan } from '../../../../src/inference/video/encoding/messages.ts';
import { watchVideo } from '../../../../src/inference/video/watch-video.ts';
import { encoders, type Rgb } from '../../../support/videos.ts';

const folder = mkdtempSync(join(tmpdir(), 'encode-film-'));
afterAll(() => rmSync(folder, { recursive: true }));
const never = new AbortController().signal;

const SIZE = { width: 160, height: 90 };
const PLAN: FilmPlan = {
  ...SIZE,
  pictures: 3,
  framesPerSecond: 30,
  stepFrames: 30,
  fadeFrames: 10,
  packet: provenancePacket(['film_frame']),
};
const COLOURS: Rgb[] = [
  [200, 30, 30],
  [30, 160, 60],
  [40, 40, 200],
];
const painted = ([r, g, b]: Rgb, size: { width: number; height: number } = SIZE) =>
  sharp({ create: { ...size, channels: 3, background: { r, g, b } } })
    .jpeg({ chromaSubsampling: '4:4:4' })
    .toBuffer();
const jpegs = await Promise.all(COLOURS.map((colour) => painted(colour)));

async function framesOf(mp4: Uint8Array) {
  const path = join(folder, 'film.mp4');
  writeFileSync(path, mp4);
  return watchVideo(path, { signal: never }, async ({ facts, frames }) => {
    const seen: { timeOffsetMs: number; colour: number[] }[] = [];
    for await (const { timeOffsetMs, jpeg } of frames) {
      seen.push({ timeOffsetMs, colour: [...(await sharp(jpeg).resize(1, 1).raw().toBuffer())] });
    }
    return { facts, seen };
  });
}

const farthest = (colour: readonly number[], wanted: Rgb) =>
  Math.max(...wanted.map((level, index) => Math.abs(level - (colour[index] ?? 0))));

test('a film shows each picture in its colours, one after another, for as long as planned', async () => {
  const { facts, seen } = await framesOf(await encodeFilm(PLAN, jpegs, { signal: never }));
  expect(facts).toMatchObject({ ...SIZE, durationMs: Math.round((100 / 30) * 1000) });
  expect(facts.framesPerSecond).toBeCloseTo(30, 3);
  const at = (ms: number) => seen.findLast(({ timeOffsetMs }) => timeOffsetMs <= ms)?.colour ?? [];
  for (const [index, colour] of COLOURS.entries()) expect(farthest(at(index * 1000 + 800), colour)).toBeLessThan(6);
});

test('a film cross-fades: between two pictures, the colour is between theirs', async () => {
  const plan = { ...PLAN, pictures: 2, stepFrames: 60, fadeFrames: 59 };
  const { seen } = await framesOf(await encodeFilm(plan, jpegs.slice(0, 2), { signal: never }));
  const reds = seen
    .filter(({ timeOffsetMs }) => timeOffsetMs > 2_000 && timeOffsetMs < 3_900)
    .map(({ colour }) => colour[0] ?? 0);
  expect(reds.length).toBeGreaterThan(4);
  expect(reds).toEqual(reds.toSorted((a, b) => b - a));
  expect(reds.some((red) => red > 80 && red < 150)).toBe(true);
});

test('a film is VP9 in MP4 with its index first, and no metadata but its provenance', async () => {
  const mp4 = Buffer.from(await encodeFilm(PLAN, jpegs, { signal: never }));
  expect(inspectArtefact(mp4, 'video/mp4')).toEqual(SIZE);
  expect(mp4.indexOf('moov')).toBeLessThan(mp4.indexOf('mdat'));
  expect(mp4.toString('latin1')).toContain('<stEvt:parameters>film_frame</stEvt:parameters>');
  const demuxer = new Mp4Demuxer({ videoOutput: () => undefined, error: () => undefined });
  await demuxer.loadBuffer(mp4);
  expect(demuxer.tracks.map(({ codec }) => codec)).toEqual([expect.stringMatching(/^vp0?9/)]);
  const other = Buffer.from(mp4.toString('latin1').replace('film_frame', 'made_by_me'), 'latin1');
  expect(() => inspectArtefact(other, 'video/mp4')).toThrow(/unexpected content in "uuid"/);
});

test('a picture of another size, or none at all, fails the film and ends the process', async () => {
  const wrong = await painted(COLOURS[0] as Rgb, { width: 80, height: 90 });
  for (const bad of [wrong, new Uint8Array([1, 2, 3])]) {
    await expect(encodeFilm(PLAN, [bad, bad, bad], { signal: never })).rejects.toMatchObject({
      code: 'model_inference_failed',
    });
  }
  expect(encoders()).toEqual([]);
});

test('a cancelled film leaves no process', async () => {
  const cancellation = new AbortController();
  const many = { ...PLAN, pictures: 60, stepFrames: 45 };
  const encoding = encodeFilm(many, Array(60).fill(jpegs[0]), { signal: cancellation.signal });
  expect(encoders()).toHaveLength(1);
  cancellation.abort(new Error('cancelled'));
  await expect(encoding).rejects.toThrow('cancelled');
  expect(encoders()).toEqual([]);
});

test('a film that stalls is given up', async () => {
  await expect(encodeFilm(PLAN, jpegs, { signal: never, stallMs: 1 })).rejects.toThrow(/stalled/);
  expect(encoders()).toEqual([]);
});
