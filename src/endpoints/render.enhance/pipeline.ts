/**
 * Picture → the picture with its noise taken away and enlarged, by a network for each. What else can be asked for is
 * skipped as not supported: these networks do not tell what the result would have to state of it. The scores are measured
 * on the pixels, before and after.
 */
import { IMAGE_PIXELS } from '../../contracts/media-limits.ts';
import { DEFAULT_OUTPUT_FORMAT, type OutputFormat } from '../../contracts/vocabulary/renders.ts';
import { ServiceError } from '../../domain/service-error.ts';
import { resample } from '../../inference/images/resample.ts';
import type { RgbImage } from '../../inference/images/rgb-image.ts';
import type { MadePicture } from '../../inference/made-files.ts';
import type { Model } from '../../inference/models/model.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/pipeline.ts';
import { createPictureMaker, type PictureMaker } from '../../inference/pipelines/image-to-image.ts';
import { measureQuality } from '../../inference/pipelines/picture-quality.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Applied = Result['operations_applied'][number];
type Skipped = Result['operations_skipped'][number];

const DENOISE_FILE = 'denoise';
const UPSCALE_FILE = 'upscale';
/** Noise that scores as much needs nothing done about it. */
const GOOD_NOISE = 0.9;
const DEFAULT_STRENGTH = 0.5;
const DEFAULT_FIDELITY = 0.8;
/** Longest side that the formats hold. */
const LONGEST_SIDES: Readonly<Record<OutputFormat, number>> = { jpg: 65_535, png: 65_535, webp: 16_383 };

export const pipeline: PipelineDefinition = {
  task: 'picture-enhancement',
  create: (model) => {
    const denoiser = createDenoiser(model);
    const enlarger = createEnlarger(model);
    return async ({ pictures, parameters }) => {
      const asked: Parameters = parameters;
      const {
        enhancer_model = 'GAN',
        operations,
        upscale_factor: factor = 1,
        strength = DEFAULT_STRENGTH,
        fidelity = DEFAULT_FIDELITY,
        output_format: format = DEFAULT_OUTPUT_FORMAT,
      } = asked;
      if (enhancer_model !== 'GAN') {
        throw new ServiceError('model_unavailable', `No ${enhancer_model} enhancer is installed. Ask for \`GAN\`.`);
      }
      const picture = await onlyPicture(pictures);
      requireRoom(picture, factor, format);
      const before = measureQuality(picture);
      const isNoisy = before.noise < GOOD_NOISE;

      const applied: Applied[] = [];
      let made = picture;
      if (denoiser && isNoisy && (operations?.includes('denoise') ?? true)) {
        made = blend(made, await denoiser.make(made), strength);
        applied.push({ operation: 'denoise', confidence: 1 - before.noise, parameters: { amount: strength } });
      }
      if (factor > 1) {
        made = await enlarge(enlarger, made, { factor, fidelity });
        applied.push({ operation: 'upscale', confidence: 1, parameters: { factor } });
      }

      const skipped = (operations ?? [])
        .filter((operation) => !applied.some((one) => one.operation === operation))
        .map((operation): Skipped => {
          if (operation === 'upscale') return { operation, reason: 'upscale_factor_is_1' };
          return { operation, reason: operation === 'denoise' && denoiser ? 'not_needed' : 'not_supported' };
        });
      const { width, height, pixels } = made;
      const image: MadePicture = { object: 'made_picture', width, height, channels: 3, pixels, format };
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

/** A network that doubles is run twice for four times the size; one for four times the size makes a double, too. */
async function enlarge(
  { scale, make }: PictureMaker,
  picture: RgbImage,
  { factor, fidelity }: { factor: number; fidelity: number },
): Promise<RgbImage> {
  const once = await make(picture, Math.min(scale, factor));
  const made = factor > scale ? await make(once, factor / scale) : once;
  const whole = { x0: 0, y0: 0, x1: picture.width, y1: picture.height };
  // Without invented detail: the picture's own pixels, drawn out.
  const plain = resample(picture, whole, picture.width * factor, picture.height * factor);
  return blend(plain, made, Math.sqrt(1 - fidelity ** 2));
}

/** From `share` 0, the one picture, to 1, the other of its size, whose pixels it overwrites: a third would be too much memory. */
function blend(one: RgbImage, other: RgbImage, share: number): RgbImage {
  for (let index = 0; index < other.pixels.length; index += 1) {
    const level = one.pixels[index] as number;
    other.pixels[index] = Math.round(level + ((other.pixels[index] as number) - level) * share);
  }
  return other;
}

/** @throws ServiceError where the picture that is asked for would be larger than one that can be sent */
function requireRoom({ width, height }: RgbImage, factor: number, format: OutputFormat): void {
  const isTooLong = Math.max(width, height) * factor > LONGEST_SIDES[format];
  if (width * height * factor ** 2 <= IMAGE_PIXELS && !isTooLong) return;
  const limit = isTooLong
    ? `a ${format} is at most ${LONGEST_SIDES[format]} pixels wide and high`
    : `a picture that is made has at most ${IMAGE_PIXELS.toLocaleString('en-US')} pixels`;
  const message = `The picture is too large to be enlarged by ${factor}: ${limit}. Ask for a smaller factor, or send a smaller one.`;
  throw new ServiceError('input_unreadable', message, { param: 'upscale_factor' });
}
