/** Pictures of a licence's sides, in any order and any turn → what is printed and coded on them. */
import { calibrateReadings, createCalibration } from '../../inference/toolkit/calibration.ts';
import { readCodes, readTiltedCodes } from '../../inference/toolkit/codes/read-codes.ts';
import type { PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { markCutEnds } from '../../inference/toolkit/quality/cut-ends.ts';
import { PRINT_READING } from '../../inference/toolkit/text/text-lines.ts';
import { createPageReader } from '../../inference/toolkit/text/upright-text.ts';
import { CALIBRATION } from './calibration.ts';
import { composeLicense } from './compose-license.ts';
import { readSide, type Side, withIssues } from './read-side.ts';
import type { Result } from './result.ts';

const SYMBOLOGIES = ['pdf417'] as const;
const ON_PAPER = { lightOnDark: false };

/** @param clock tells the day on which a licence is expired, and the century of a year of birth */
export function createPipeline(clock: () => Date): PipelineDefinition {
  return {
    tasks: [PRINT_READING],
    create: (model) => {
      const readPage = createPageReader(model);
      const calibrate = createCalibration(model, CALIBRATION);
      return async ({ pictures, parameters }): Promise<Result> => {
        const today = clock().toISOString().slice(0, 10);
        const sides: Side[] = [];
        for (const [imageIndex, each] of pictures.entries()) {
          const picture = await each.decode();
          const codes = await readCodes(picture, SYMBOLOGIES, ON_PAPER);
          const lines = markCutEnds(picture, (await readPage(picture)).lines);
          const seen = { picture, lines, imageIndex };
          const side = readSide({ ...seen, codes }, today);
          const turned = side.side === null ? await readTiltedCodes(picture, SYMBOLOGIES, ON_PAPER, codes) : [];
          sides.push(withIssues(turned.length > 0 ? readSide({ ...seen, codes: turned }, today) : side, seen));
        }
        const composed = composeLicense(sides, parameters, today);
        const { holder, license, categories, barcode } = composed;
        const isCoded = (reading: object) => 'bbox' in reading && reading.bbox === barcode?.bbox;
        return { ...composed, ...calibrateReadings({ holder, license, categories }, calibrate, isCoded) };
      };
    },
  };
}

export const pipeline = createPipeline(() => new Date());
