/** A pipeline for tests of films: shows its first picture as often as the request says. */
import type { FilmToMake, PictureToDraw } from '../../../../src/inference/toolkit/images/made-pictures.ts';
import type { PipelineDefinition } from '../../../../src/inference/toolkit/pipeline.ts';

const SIZE = { width: 64, height: 36 };

export const pipeline: PipelineDefinition = {
  tasks: ['adding-one'],
  makesFilms: true,
  create: () => {
    return async ({ parameters }): Promise<{ film: FilmToMake }> => {
      const grey: PictureToDraw = {
        object: 'picture_to_draw',
        draw: async () => ({
          object: 'made_picture',
          ...SIZE,
          channels: 3,
          pixels: new Uint8Array(SIZE.width * SIZE.height * 3).fill(128),
          format: 'jpg',
          edits: ['film_frame'],
        }),
      };
      const timing = { framesPerSecond: 30, stepFrames: 30, fadeFrames: 10 };
      const pictures = Array.from({ length: Number(parameters.pictures) }, () => grey);
      return { film: { object: 'film_to_make', ...SIZE, pictures, ...timing, edits: ['film_frame'] } };
    };
  },
};
