/** Pictures of a licence's sides, in any order → what is printed and coded on them. */
import { readCodes } from '../../inference/toolkit/codes/read-codes.ts';
import type { PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { createTextReader, PRINT_READING } from '../../inference/toolkit/text/text-lines.ts';
import { composeLicense } from './compose-license.ts';
import { readSide, type Side } from './read-side.ts';
import type { Result } from './result.ts';

export const pipeline: PipelineDefinition = {
  tasks: [PRINT_READING],
  create: (model) => {
    const readText = createTextReader(model);
    return async ({ pictures, parameters }): Promise<Result> => {
      const sides: Side[] = [];
      for (const [index, picture] of pictures.entries()) {
        const pixels = await picture.decode();
        const codes = await readCodes(pixels, ['pdf417']);
        sides.push(readSide(await readText(pixels), codes, index));
      }
      return composeLicense(sides, parameters, new Date().toISOString().slice(0, 10));
    };
  },
};
