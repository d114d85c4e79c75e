/** A pipeline for tests of what is made: gives its pictures back, in every format and number of channels. */

import type { PictureEdit } from '../../../../src/contracts/vocabulary/provenance.ts';
import type { MadePicture } from '../../../../src/inference/toolkit/images/made-pictures.ts';
import type { RgbImage } from '../../../../src/inference/toolkit/images/rgb-image.ts';
import type { PipelineDefinition } from '../../../../src/inference/toolkit/pipeline.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['adding-one'],
  create: () => {
    return async ({ pictures }) => {
      const images = await Promise.all(pictures.map((picture) => picture.decode()));
      return { pictures: images.flatMap(copiesOf) };
    };
  },
};

function copiesOf({ width, height, pixels }: RgbImage): MadePicture[] {
  const object = 'made_picture';
  const edits: PictureEdit[] = ['plate_blur'];
  const channel = (at: number) => pixels.filter((_, index) => index % 3 === at);
  const withOpacity = Uint8Array.from({ length: width * height * 4 }, (_, index) =>
    index % 4 === 3 ? 200 : (pixels[Math.floor(index / 4) * 3 + (index % 4)] ?? 0),
  );
  return [
    { object, width, height, channels: 3, pixels, format: 'jpg', edits },
    { object, width, height, channels: 3, pixels, format: 'png', edits },
    { object, width, height, channels: 3, pixels, format: 'webp', edits },
    { object, width, height, channels: 1, pixels: channel(0), format: 'png', edits },
    { object, width, height, channels: 4, pixels: withOpacity, format: 'png', edits },
    { object, width, height, channels: 4, pixels: withOpacity, format: 'webp', edits },
  ];
}
