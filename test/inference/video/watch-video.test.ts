/** What is taken from a video, and how files that are not videos fail. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Mp4Demuxer } from '@napi-rs/webcodecs';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { DecodeFigures, TakenFrame, VideoFacts } from '../../../src/inference/video/messages.ts';
import { type WatchOptions, watchVideo } from '../../../src/inference/video/watch-video.ts';
import { decoders, makeVideo, type Rgb, withRotation } from '../../support/videos.ts';

const RED: Rgb = [200, 30, 30];
const BLUE: Rgb = [30, 40, 200];
const repeat = (count: number, colour: Rgb) => Array<Rgb>(count).fill(colour);

const folder = mkdtempSync(join(tmpdir(), 'watch-video-'));
const path = (name: string) => join(folder, name);
const never = new AbortController().signal;

beforeAll(() =>
  makeVideo(path('walk.mp4'), { frames: [...repeat(20, RED), ...repeat(20, BLUE)], corner: [240, 240, 240] }),
);
afterAll(() => rmSync(folder, { recursive: true }));

interface Taken {
  facts: VideoFacts;
  frames: TakenFrame[];
  figures: DecodeFigures | undefined;
}

async function take(name: string, options: Partial<WatchOptions> = {}): Promise<Taken> {
  let figures: DecodeFigures | undefined;
  const onEnd = (ended: DecodeFigures) => {
    figures = ended;
  };
  return watchVideo(path(name), { signal: never, onEnd, ...options }, async ({ facts, frames: coming }) => {
    const frames: TakenFrame[] = [];
    for await (const frame of coming) frames.push(frame);
    return { facts, frames, figures };
  });
}

/** The colour of a picture in its lower right corner. */
async function colourOf({ jpeg, width, height }: TakenFrame): Promise<number[]> {
  const place = { left: width - 16, top: height - 16, width: 8, height: 8 };
  return [...(await sharp(jpeg).extract(place).resize(1, 1).raw().toBuffer())];
}

function expectNear(colour: readonly number[], wanted: Rgb, tolerance = 12): void {
  for (const [index, level] of wanted.entries()) expect(Math.abs((colour[index] ?? 0) - level)).toBeLessThan(tolerance);
}

describe('the frames of a video', () => {
  test.each([
    { codec: 'avc1.42001E', name: 'baseline.mp4' },
    { codec: 'avc1.64001E', name: 'high.mp4' },
    { codec: 'hvc1.1.6.L93.B0', name: 'hevc.mp4' },
    { codec: 'vp09.00.10.08', name: 'vp9.webm', container: 'webm' as const },
    { codec: 'vp8', name: 'vp8.webm', container: 'webm' as const },
    { codec: 'av01.0.04M.08', name: 'av1.mp4' },
  ])('frames of $codec have the times and the colours of the video', async ({ name, ...made }) => {
    await makeVideo(path(name), { ...made, framesPerSecond: 30, frames: [...repeat(30, RED), ...repeat(30, BLUE)] });
    const { facts, frames } = await take(name);
    expect(facts).toMatchObject({ width: 128, height: 96, frameDistanceMs: 250 });
    expect(Math.abs(facts.durationMs - 2_000)).toBeLessThan(50);
    expect(Math.abs(facts.framesPerSecond - 30)).toBeLessThan(1);
    expect(frames).toHaveLength(8);
    for (const [index, frame] of frames.entries()) {
      expect(Math.abs(frame.timeOffsetMs - index * 250)).toBeLessThan(40);
      expect(frame).toMatchObject({ width: 128, height: 96 });
      expectNear(await colourOf(frame), frame.timeOffsetMs < 990 ? RED : BLUE);
    }
  });

  test('frames have the times and the colours of a video whose packets are not in the order of its frames', async () => {
    const level = (index: number) => 20 + index * 5;
    const frames = Array.from({ length: 40 }, (_, index): Rgb => [level(index), level(index), level(index)]);
    await makeVideo(path('b-frames.mp4'), { codec: 'hvc1.1.6.L93.B0', frames });
    expect(await isReordered(path('b-frames.mp4'))).toBe(true);
    const taken = (await take('b-frames.mp4')).frames;
    expect(taken.map(({ timeOffsetMs }) => timeOffsetMs).slice(0, 4)).toEqual([0, 300, 500, 800]);
    for (const frame of taken) {
      const shown = level(frame.timeOffsetMs / 100);
      expectNear(await colourOf(frame), [shown, shown, shown], 4);
    }
  });

  // Made by FFmpeg in two passes, with `-auto-alt-ref 1`: 64 × 48, 30 a second, each frame one level lighter than the last.
  test('frames have the times and the colours of a video with packets that are never shown', async () => {
    copyFileSync(new URL('./fixtures/hidden-frames.webm', import.meta.url), path('hidden.webm'));
    const { facts, frames } = await take('hidden.webm');
    expect(facts).toMatchObject({ durationMs: 6_000 });
    const levels = await Promise.all(
      frames.map(async ({ jpeg }) => (await sharp(jpeg).resize(1, 1).greyscale().raw().toBuffer())[0] ?? 0),
    );
    for (const [index, { timeOffsetMs }] of frames.entries()) {
      const luma = 30 + (timeOffsetMs * 30) / 1_000;
      expect(Math.abs((levels[index] ?? 0) - ((luma - 16) * 255) / 219)).toBeLessThan(6);
    }
  });

  test('frames have the colours of a video in high definition, where they are coded otherwise', async () => {
    await makeVideo(path('hd.mp4'), { codec: 'avc1.640028', width: 1280, height: 720, frames: repeat(4, RED) });
    const [frame] = (await take('hd.mp4')).frames;
    // The encoder uses the numbers of standard definition, and does not say so: red comes out as a player shows it.
    expect(frame && (await colourOf(frame))[0]).toBeGreaterThan(180);
    expect(frame).toMatchObject({ width: 1280, height: 720 });
  });

  test('frames are taken from a video in QuickTime', async () => {
    const video = readFileSync(path('walk.mp4'));
    const movie = Buffer.from(video.toString('latin1').replace('ftypisom', 'ftypqt  '), 'latin1');
    writeFileSync(path('walk.mov'), movie);
    expect((await take('walk.mov')).frames).toHaveLength(16);
  });
});

test.each([
  { degrees: 90 as const, size: { width: 96, height: 128 }, corner: [80, 16] as const },
  { degrees: 180 as const, size: { width: 128, height: 96 }, corner: [112, 80] as const },
  { degrees: 270 as const, size: { width: 96, height: 128 }, corner: [16, 112] as const },
])('a video of a phone that was turned by $degrees° is upright', async ({ degrees, size, corner: [left, top] }) => {
  writeFileSync(path('turned.mp4'), withRotation(readFileSync(path('walk.mp4')), degrees));
  const { facts, frames } = await take('turned.mp4');
  expect(facts).toMatchObject(size);
  const [frame] = frames;
  expect(frame).toMatchObject(size);
  // The rotation moves the light corner, which is stored at the upper left.
  const place = { left: left - 4, top: top - 4, width: 8, height: 8 };
  const pixel = await sharp(frame?.jpeg).extract(place).resize(1, 1).raw().toBuffer();
  expectNear([...pixel], [240, 240, 240]);
});

test('frames hold pixels only', async () => {
  const [frame] = (await take('walk.mp4')).frames;
  const { format, exif, icc, xmp } = await sharp(frame?.jpeg).metadata();
  expect({ format, exif, icc, xmp }).toEqual({ format: 'jpeg' });
});

test('the sharper frame has the higher sharpness', async () => {
  await makeVideo(path('plain.mp4'), { frames: repeat(3, RED) });
  const [plain] = (await take('plain.mp4')).frames;
  const [detailed] = (await take('walk.mp4')).frames;
  expect(detailed?.sharpness).toBeGreaterThan(plain?.sharpness ?? Number.POSITIVE_INFINITY);
});

test('half an hour gives as many frames as any long video, with few in memory', async () => {
  const frames = Array.from({ length: 1_800 }, (_, index) => (index % 2 === 0 ? RED : BLUE));
  await makeVideo(path('long.mp4'), { width: 64, height: 48, framesPerSecond: 1, keyFrameEvery: 5, frames });
  await makeVideo(path('long-gop.mp4'), { width: 64, height: 48, framesPerSecond: 1, frames });
  for (const name of ['long.mp4', 'long-gop.mp4']) {
    const { facts, frames: taken, figures } = await take(name);
    expect(facts).toMatchObject({ durationMs: 1_800_000, frameDistanceMs: 7_500 });
    expect(taken.length).toBeGreaterThan(235);
    expect(taken.length).toBeLessThanOrEqual(241);
    expect(taken.at(-1)?.timeOffsetMs).toBeGreaterThan(1_780_000);
    expect(figures?.mostFramesHeld).toBeLessThan(30);
    process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
  }
});

describe('an unsuitable file', () => {
  const cutOff = (name: string, share: number) => {
    const video = readFileSync(path('walk.mp4'));
    writeFileSync(path(name), video.subarray(0, Math.round(video.length * share)));
  };
  const patched = (name: string, patch: (video: Buffer) => void) => {
    const video = Buffer.from(readFileSync(path('walk.mp4')));
    patch(video);
    writeFileSync(path(name), video);
  };

  beforeAll(async () => {
    await makeVideo(path('large.webm'), { codec: 'vp8', container: 'webm', width: 320, height: 272, frames: [RED] });
    const large = readFileSync(path('large.webm'));
    large.writeUInt16BE(16_000, large.indexOf(Buffer.from('b0820140', 'hex')) + 2);
    large.writeUInt16BE(16_000, large.indexOf(Buffer.from('ba820110', 'hex')) + 2);
    writeFileSync(path('too-large'), large);
    writeFileSync(path('empty'), '');
    writeFileSync(path('text'), 'The quick brown fox jumps over the lazy dog.');
    writeFileSync(path('list'), `ffconcat version 1.0\nfile walk.mp4\n`);
    writeFileSync(path('stream'), `#EXTM3U\n#EXTINF:4,\nwalk.mp4\n`);
    cutOff('unfinished', 0.5);
    patched('damaged', (video) => {
      const content = video.indexOf('mdat') + 4;
      video.fill(0xa5, content, content + 400);
    });
    patched('unknown-codec', (video) => {
      const entry = video.indexOf('avc1', video.indexOf('stsd'));
      video.write('mp4v', entry);
    });
    patched('silent', (video) => {
      // A track of another kind.
      video.write('soun', video.indexOf('vide', video.indexOf('hdlr')));
    });
  });

  test.each([
    { name: 'empty', message: /not an MP4/ },
    { name: 'text', message: /not an MP4/ },
    { name: 'list', message: /not an MP4/ },
    { name: 'stream', message: /not an MP4/ },
    { name: 'unfinished', message: /damaged|truncated/ },
    { name: 'too-large', message: /at most 36,000,000 pixels/ },
    { name: 'damaged', message: /damaged/ },
    { name: 'unknown-codec', message: /codec|damaged/ },
    { name: 'silent', message: /no video track|damaged/ },
  ])('the file $name is refused with what to change', async ({ name, message }) => {
    await expect(take(name)).rejects.toMatchObject({
      code: 'input_unreadable',
      param: 'video',
      message: expect.stringMatching(message),
    });
    expect(decoders()).toEqual([]);
  });

  test('a truncated video is refused with what to change', async () => {
    // The index comes first, so that all but the end of the pictures is there.
    await makeVideo(path('fast.mp4'), { frames: repeat(40, RED), fastStart: true });
    const video = readFileSync(path('fast.mp4'));
    writeFileSync(path('fast-cut.mp4'), video.subarray(0, video.indexOf('mdat') + 600));
    await expect(take('fast-cut.mp4')).rejects.toMatchObject({
      code: 'input_unreadable',
      message: expect.stringMatching(/truncated|damaged/),
    });
  });

  test('a video that needs too much memory is refused with what to change', async () => {
    await expect(take('walk.mp4', { limits: { residentBytes: 1 } })).rejects.toMatchObject({
      code: 'input_unreadable',
      message: expect.stringMatching(/memory/),
    });
  });

  test('a video on which the decoder stalls is refused with what to change', async () => {
    await expect(take('walk.mp4', { stallMs: 1 })).rejects.toMatchObject({
      code: 'input_unreadable',
      message: expect.stringMatching(/stalled/),
    });
    expect(decoders()).toEqual([]);
  });
});

describe('the process of the decoder', () => {
  test('no process of the decoder is left when the job is cancelled in the middle', async () => {
    const cancelling = new AbortController();
    const reason = new Error('cancelled');
    let seen = 0;
    const watching = watchVideo(path('walk.mp4'), { signal: cancelling.signal }, async ({ frames }) => {
      for await (const _ of frames) {
        seen += 1;
        expect(decoders()).toHaveLength(1);
        cancelling.abort(reason);
      }
    });
    await expect(watching).rejects.toBe(reason);
    expect(seen).toBe(1);
    expect(decoders()).toEqual([]);
  });

  test('no process of the decoder is left when the consumer fails', async () => {
    const failure = new Error('the model is away');
    const watching = watchVideo(path('walk.mp4'), { signal: never }, async ({ frames }) => {
      for await (const _ of frames) throw failure;
    });
    await expect(watching).rejects.toBe(failure);
    expect(decoders()).toEqual([]);
  });
});

test('a killed decoder is a retryable failure', async () => {
  const watching = watchVideo(path('walk.mp4'), { signal: never }, async ({ frames }) => {
    for await (const _ of frames) for (const pid of decoders()) process.kill(pid, 'SIGKILL');
  });
  await expect(watching).rejects.toMatchObject({ code: 'model_inference_failed', retryable: true });
});

test('the decoder has no secrets, opens no other file, and is killed first when memory runs out', async () => {
  process.env.VIDEO_TEST_SECRET = 'hush';
  onTestFinished(() => {
    delete process.env.VIDEO_TEST_SECRET;
  });
  await watchVideo(path('walk.mp4'), { signal: never }, async ({ frames }) => {
    for await (const _ of frames) {
      for (const pid of decoders()) {
        expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toMatch('hush');
        expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toMatch('--permission');
        expect(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim()).toBe('1000');
      }
    }
  });
});

async function isReordered(file: string): Promise<boolean> {
  const times: number[] = [];
  const demuxer = new Mp4Demuxer({ videoOutput: ({ timestamp }) => times.push(timestamp), error: () => {} });
  await demuxer.load(file);
  await demuxer.demuxAsync();
  await new Promise(setImmediate);
  demuxer.close();
  return times.some((time, index) => time < (times[index - 1] ?? 0));
}
