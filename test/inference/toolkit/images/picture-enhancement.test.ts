/** The reference model of `render.enhance`, on the real ONNX Runtime. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderEnhance } from '../../../../src/endpoints/render.enhance/contract.ts';
import type { Result } from '../../../../src/endpoints/render.enhance/result.ts';
import { createOnnxBackend, type OnnxBackend } from '../../../../src/inference/backends/onnx-backend.ts';
import { recordingLog, standInArtefacts, tinyRequest } from '../../support/tiny-endpoint.ts';

/** A car as `scripts/ray-marched-car.ts` draws it, which the networks have not seen. */
const truth = readFileSync(new URL('../../../../src/endpoints/vehicle.segment/fixtures/example.jpg', import.meta.url));

let backend: OnnxBackend;
let sent: Buffer;
let made: Buffer;

beforeAll(async () => {
  const { log } = recordingLog();
  backend = await createOnnxBackend({
    modelsDirectory: fileURLToPath(new URL('../../../../models/', import.meta.url)),
    store: { get: async () => sent },
    writeArtefact: (artefact) => {
      made = Buffer.from(artefact.content);
      return standInArtefacts(artefact);
    },
    children: 1,
    threads: 1,
    logger: log,
    endpoints: [renderEnhance],
    endpointsDirectory: new URL('../../../../src/endpoints/', import.meta.url),
  });
}, 240_000);

afterAll(() => backend?.close());

const pixelsOf = (file: Buffer) => sharp(file).removeAlpha().raw().toBuffer({ resolveWithObject: true });

const scaled = (file: Buffer, width: number, height: number) =>
  sharp(file).resize(width, height, { fit: 'fill', kernel: 'cubic' }).png().toBuffer();

/** Peak signal-to-noise ratio, in dB. */
async function likeness(one: Buffer, other: Buffer): Promise<number> {
  const [{ data: first }, { data: second }] = await Promise.all([pixelsOf(one), pixelsOf(other)]);
  expect(first.length).toBe(second.length);
  const sum = first.reduce((total, level, place) => total + (level - (second[place] ?? 0)) ** 2, 0);
  return 10 * Math.log10(255 ** 2 / (sum / first.length));
}

async function enhance(parameters: Record<string, unknown>): Promise<Result> {
  const request = tinyRequest({
    endpoint: 'render.enhance',
    parameters: { output_format: 'png', ...parameters },
  });
  const { error, result } = await backend.infer(request, { signal: new AbortController().signal });
  expect(error).toBeNull();
  return result as Result;
}

test('the model for picture enhancement ships with the service', () => {
  expect(backend.installedEndpoints()).toEqual([
    {
      endpoint: 'render.enhance',
      modelVersion: 'picture-enhancement@2026-11-24',
      servedValues: {
        'picture-enhancement@2026-11-24': {
          enhancer_model: ['GAN'],
          operations: ['denoise', 'exposure_correction', 'white_balance', 'deblur', 'sharpen', 'upscale'],
        },
      },
    },
  ]);
});

test.each([2, 4])('enhancing a picture made %d times smaller restores more than scaling does', async (factor) => {
  const { info } = await pixelsOf(truth);
  const [width, height] = [Math.floor(info.width / factor), Math.floor(info.height / factor)];
  const whole = await scaled(truth, width * factor, height * factor);
  sent = await scaled(whole, width, height);
  const parameters = { operations: ['upscale'], upscale_factor: factor, fidelity: 0 };
  const { operations_applied, before, after } = await enhance(parameters);
  expect(after.quality.overall).toBeGreaterThanOrEqual(before.quality.overall);
  expect(after.quality.sharpness).toBeGreaterThan(before.quality.sharpness);
  expect(operations_applied).toMatchObject([{ operation: 'upscale', parameters: { factor } }]);
  const drawnOut = await scaled(sent, width * factor, height * factor);
  expect(await likeness(made, whole)).toBeGreaterThan((await likeness(drawnOut, whole)) + 0.5);
});

test('the enhancement denoises a noisy picture and leaves a clean one alone', async () => {
  const { data, info } = await pixelsOf(truth);
  // From a linear congruential generator: the same in every run. Four sums are nearly normal, their deviation is 1 / √3.
  let state = 1;
  const next = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
  const noisy = data.map((level) => {
    const noise = (next() + next() + next() + next() - 2) * Math.sqrt(3) * 12;
    return Math.min(255, Math.max(0, Math.round(level + noise)));
  });
  sent = await sharp(noisy, { raw: { width: info.width, height: info.height, channels: 3 } })
    .png()
    .toBuffer();
  const { operations_applied, before, after } = await enhance({ operations: ['denoise'], strength: 1 });
  expect(operations_applied).toMatchObject([{ operation: 'denoise', parameters: { amount: 1 } }]);
  expect(after.quality.noise).toBeGreaterThan(before.quality.noise);
  expect(await likeness(made, truth)).toBeGreaterThan((await likeness(sent, truth)) + 5);

  sent = truth;
  const clean = await enhance({ operations: ['denoise'] });
  expect(clean.operations_skipped).toEqual([{ operation: 'denoise', reason: 'not_needed' }]);
});
