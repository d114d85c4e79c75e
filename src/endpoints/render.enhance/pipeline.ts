/**
 * Picture → the picture denoised and enlarged, with one network for each, and its light, colour of light and edges corrected by
 * formulas. An operation is applied if the picture needs it and its own measure rises; others are skipped as not supported. The
 * scores are measured on the pixels before and after.
 */
import { IMAGE_PIXELS } from '../../contracts/media-limits.ts';
import { DEFAULT_OUTPUT_FORMAT, type OutputFormat } from '../../contracts/vocabulary/renders.ts';
import type { Model } from '../../inference/models/model.ts';
import { createPictureMaker, type PictureMaker } from '../../inference/toolkit/images/image-to-image.ts';
import type { MadePicture } from '../../inference/toolkit/images/made-pictures.ts';
import { resample } from '../../inference/toolkit/images/resample.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { measureQuality } from '../../inference/toolkit/quality/picture-quality.ts';
import { ServiceError } from '../../platform/service-error.ts';
import { chargedShare } from './charged-share.ts';
import { CORRECTIONS } from './corrections.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Applied = Result['operations_applied'][number];
type Skipped = Result['operations_skipped'][number];

const DENOISE_FILE = 'denoise';
const UPSCALE_FILE = 'upscale';
/** A noise score from here on needs no denoising. */
const GOOD_NOISE = 0.9;
const DEFAULT_STRENGTH = 0.5;
const DEFAULT_FIDELITY = 0.8;
/** Maximum side length of each format, in pixels. */
const LONGEST_SIDES: Readonly<Record<OutputFormat, number>> = { jpg: 65_535, png: 65_535, webp: 16_383 };

export const pipeline: PipelineDefinition = {
  tasks: ['picture-enhancement'],
  chargedShare: (result) => chargedShare(result as Result),
  servedValues: ({ files }) => ({
    enhancer_model: ['GAN'],
    operations: [
      ...(files[DENOISE_FILE] ? ['denoise'] : []),
      ...CORRECTIONS.map(({ operation }) => operation),
      'upscale',
    ],
  }),
  create: (model) => {
    const denoiser = createDenoiser(model);
    const enlarger = createEnlarger(model);
    return async ({ pictures, parameters }) => {
      const requested: Parameters = parameters;
      const {
        enhancer_model = 'GAN',
        operations,
        upscale_factor: factor = 1,
        strength = DEFAULT_STRENGTH,
        fidelity = DEFAULT_FIDELITY,
        output_format: format = DEFAULT_OUTPUT_FORMAT,
      } = requested;
      if (enhancer_model !== 'GAN') {
        throw new ServiceError('model_unavailable', `No ${enhancer_model} enhancer is installed. Use \`GAN\`.`);
      }
      const picture = await onlyPicture(pictures);
      requireRoom(picture, factor, format);
      const { noise } = measureQuality(picture);

      // Like is compared with like: enlarging spreads every edge over more pixels.
      const before = measureQuality(interpolate(picture, factor));
      const applied: Applied[] = [];
      const unneeded = new Map<string, Skipped['reason']>();
      let made = picture;
      if (denoiser && noise < GOOD_NOISE && (operations?.includes('denoise') ?? true)) {
        const quieter = blend(made, await denoiser.make(made), strength);
        if (measureQuality(quieter).noise > noise) {
          made = quieter;
          applied.push({ operation: 'denoise', confidence: 1 - noise, parameters: { amount: strength } });
        } else unneeded.set('denoise', 'would_do_harm');
      }
      for (const { operation, correct } of CORRECTIONS) {
        if (!(operations?.includes(operation) ?? true)) continue;
        const corrected = correct(made, strength);
        if (typeof corrected === 'string') unneeded.set(operation, corrected);
        else {
          made = corrected.made;
          applied.push(corrected.applied);
        }
      }
      if (factor > 1) {
        made = await enlarge(enlarger, made, { factor, fidelity });
        applied.push({ operation: 'upscale', confidence: 1, parameters: { factor } });
      }

      const skipped = (operations ?? [])
        .filter((operation) => !applied.some((one) => one.operation === operation))
        .map((operation): Skipped => {
          if (operation === 'upscale') return { operation, reason: 'upscale_factor_is_1' };
          const usual = operation === 'denoise' && denoiser ? 'not_needed' : 'not_supported';
          return { operation, reason: unneeded.get(operation) ?? usual };
        });
      const { width, height, pixels } = made;
      const edits = applied.map(({ operation }) => operation);
      const image: MadePicture = { object: 'made_picture', width, height, channels: 3, pixels, format, edits };
      return {
        image,
        enhancer_model,
        operations_applied: applied,
        operations_skipped: skipped,
        before: { width: picture.width, height: picture.height, quality: before },
        after: { width, height, quality: applied.length > 0 ? measureQuality(made) : before },
      };
    };
  },
};

function createDenoiser(model: Model): PictureMaker | null {
  if (!model.manifest.files[DENOISE_FILE]) return null;
  const maker = createPictureMaker(model, DENOISE_FILE);
  if (maker.scale !== 1) throw new Error(`files.${DENOISE_FILE}.decoder.scale must be 1`);
  return maker;
}

function createEnlarger(model: Model): PictureMaker {
  const maker = createPictureMaker(model, UPSCALE_FILE);
  if (![2, 4].includes(maker.scale)) throw new Error(`files.${UPSCALE_FILE}.decoder.scale must be 2 or 4`);
  return maker;
}

/** A ×2 network runs twice for ×4; a ×4 network also produces ×2. */
async function enlarge(
  { scale, make }: PictureMaker,
  picture: RgbImage,
  { factor, fidelity }: { factor: number; fidelity: number },
): Promise<RgbImage> {
  const once = await make(picture, Math.min(scale, factor));
  const made = factor > scale ? await make(once, factor / scale) : once;
  return blend(interpolate(picture, factor), made, Math.sqrt(1 - fidelity ** 2));
}

/** Enlarges without generated detail. */
function interpolate(picture: RgbImage, factor: number): RgbImage {
  if (factor === 1) return picture;
  const { width, height } = picture;
  return resample(picture, { x0: 0, y0: 0, x1: width, y1: height }, width * factor, height * factor);
}

/** Blends from `one` (share 0) to `other` (share 1), in place in `other`: a third picture would take too much memory. */
function blend(one: RgbImage, other: RgbImage, share: number): RgbImage {
  for (let index = 0; index < other.pixels.length; index += 1) {
    const level = one.pixels[index] as number;
    other.pixels[index] = Math.round(level + ((other.pixels[index] as number) - level) * share);
  }
  return other;
}

/** @throws ServiceError if the output would exceed the limits for pictures */
function requireRoom({ width, height }: RgbImage, factor: number, format: OutputFormat): void {
  const isTooLong = Math.max(width, height) * factor > LONGEST_SIDES[format];
  if (width * height * factor ** 2 <= IMAGE_PIXELS && !isTooLong) return;
  const limit = isTooLong
    ? `a ${format} is at most ${LONGEST_SIDES[format]} pixels wide and high`
    : `the output may have at most ${IMAGE_PIXELS.toLocaleString('en-US')} pixels`;
  const message = `The picture is too large to enlarge by ${factor}: ${limit}. Use a smaller factor or send a smaller picture.`;
  throw new ServiceError('input_unreadable', message, { param: 'upscale_factor' });
}
