/** The memory of a child process is bounded by the kernel: what takes too much ends, and harms nobody else. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterEach, expect, test } from 'vitest';
import { MEGABYTE } from '../../../src/contracts/media-limits.ts';
import type { OnnxBackend, OnnxBackendOptions } from '../../../src/inference/backends/onnx-backend.ts';
import { describeWith } from '../../support/needs.ts';
import { installMisbehaving } from '../support/installed-tiny.ts';
import { createTinyBackend, recordingLog, rejectionOf, tinyRequest } from '../support/tiny-endpoint.ts';

const never = { signal: new AbortController().signal };
const small = await flat(41, 7).png().toBuffer();
/** Takes 600 MB and more to decode: 50 megapixels of 16 bits and four channels, in the order of Adam7. */
const large = await flat(8_000, 6_250).ensureAlpha(0.5).toColourspace('rgb16').png({ progressive: true }).toBuffer();

let onnx: OnnxBackend;
let stored: Uint8Array;
const { log, lines } = recordingLog();

async function start(changes: Partial<OnnxBackendOptions>): Promise<void> {
  stored = small;
  onnx = await createTinyBackend({
    store: { get: async () => stored },
    logger: log,
    restartDelayMs: 1,
    ...changes,
  });
}

afterEach(() => onnx.close());

function flat(width: number, height: number) {
  return sharp({ create: { width, height, channels: 3, background: '#888888' } });
}

/** Most memory that the process ever held, in MB. */
async function peakMegabytes(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

describeWith('linux', 'a child process with a bound', () => {
  test('a job that hoards memory ends with its process, as retryable; the next one is served', async () => {
    await start({ workingMemoryBytes: 512 * MEGABYTE });
    const [pid] = onnx.pids;
    const hoarding = onnx.infer(tinyRequest({ parameters: { behaviour: 'hoard' } }), never);
    expect(await rejectionOf(hoarding)).toMatchObject({ code: 'model_inference_failed', retryable: true });
    expect((await onnx.infer(tinyRequest(), never)).status).toBe('succeeded');
    expect(onnx.pids).not.toContain(pid);
  });

  test('a picture that exhausts the memory ends its process and is not reported as damaged', async () => {
    await start({ workingMemoryBytes: 256 * MEGABYTE });
    const [pid] = onnx.pids;
    stored = large;
    const decoding = onnx.infer(tinyRequest(), never);
    expect(await rejectionOf(decoding)).toMatchObject({ code: 'model_inference_failed', retryable: true });
    expect(onnx.pids).not.toContain(pid);
    stored = small;
    expect((await onnx.infer(tinyRequest(), never)).status).toBe('succeeded');
  });

  test('jobs beside one that hoards memory are repeated and succeed', async () => {
    await start({ workingMemoryBytes: 512 * MEGABYTE });
    const hoarding = rejectionOf(onnx.infer(tinyRequest({ parameters: { behaviour: 'hoard' } }), never));
    const neighbours = await Promise.all(Array.from({ length: 5 }, () => onnx.infer(tinyRequest(), never)));
    expect(neighbours.map(({ status }) => status)).toEqual(Array(5).fill('succeeded'));
    expect(await hoarding).toMatchObject({ code: 'model_inference_failed', retryable: true });
  });

  test('a release that takes too much memory while it loads is refused', async () => {
    const modelsDirectory = await mkdtemp(join(tmpdir(), 'memory-bound-'));
    await installMisbehaving(modelsDirectory, '2026-02-01', 'hoarding');
    await start({ modelsDirectory, workingMemoryBytes: 256 * MEGABYTE });
    expect(onnx.installedEndpoints()).toEqual([]);
    expect(lines.map(({ fields }) => String(fields.reason)).join('\n')).toMatch(/allocat|ended before it was ready/);
    await rm(modelsDirectory, { recursive: true });
  });

  test('a child process decodes the largest accepted picture within a gigabyte', async () => {
    await start({ workingMemoryBytes: 1_024 * MEGABYTE });
    const [pid] = onnx.pids;
    const before = await peakMegabytes(pid);
    stored = large;
    expect((await onnx.infer(tinyRequest(), never)).result).toMatchObject({ sum: 8_001 });
    expect((await peakMegabytes(pid)) - before).toBeLessThan(1_024);
  });
});
