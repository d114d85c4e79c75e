/**
 * Fits the confidences of the reading endpoints to how often readings are right, from the verdicts that `evaluate.ts --json`
 * keeps, and writes `calibration.ts` of each endpoint among them. Only drawings count: photographs are for checking.
 *
 *     npm run -s models:calibrate                                          draws, reads and fits all endpoints
 *     node training/calibrate.ts VERDICTS.json … [--check OTHERS.json] …   fits to verdicts that were kept
 *
 * `--check` names verdicts of other pictures, on which the reliability before and after the fit is printed.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Calibration, calibrated, logOdds } from '../src/inference/toolkit/calibration.ts';
import { type Outcome, reliabilityText, type Verdict } from './evaluate-score.ts';
import { EVALUATED, type EvaluatedEndpoint } from './evaluate-sets.ts';
import { fitLogistic, type Observation } from './fit-logistic.ts';

/** Fewer readings, or fewer wrong ones among them, say nothing of a line. */
const FEWEST_READINGS = 20;
const FEWEST_WRONG = 5;
const IDENTITY = { slope: 1, offset: 0 };

const { positionals: paths, values: options } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'string', multiple: true, default: [] } },
});
const outcomes = await outcomesIn(paths);
const others = await outcomesIn(options.check);
for (const endpoint of EVALUATED) {
  const drawn = productOf(outcomes, endpoint).filter(({ set }) => set.source === 'drawings');
  if (drawn.length > 0) await calibrate(endpoint, drawn, productOf(others, endpoint));
}

async function outcomesIn(files: readonly string[]): Promise<Outcome[]> {
  return (await Promise.all(files.map(async (path) => JSON.parse(await readFile(path, 'utf8')) as Outcome[]))).flat();
}

function productOf(of: readonly Outcome[], { contract: { slug } }: EvaluatedEndpoint): Outcome[] {
  return of.filter(({ endpoint, reader }) => endpoint === slug && reader === 'product');
}

/** Verdicts on print, with their confidences as the network stated them. */
function asStated(
  of: readonly Outcome[],
  current: Calibration,
  isPrint: NonNullable<EvaluatedEndpoint['isPrint']>,
): Verdict[] {
  return of.flatMap(({ verdicts, version }) => {
    const { slope, offset } = version === current.model ? current : IDENTITY;
    const back = (confidence: number) =>
      confidence === 0 ? 0 : calibrated(confidence, { slope: 1 / slope, offset: -offset / slope });
    return verdicts.flatMap((verdict): Verdict[] => {
      if (!isPrint(verdict.name)) return [];
      return [{ ...verdict, confidence: verdict.confidence === null ? null : back(verdict.confidence) }];
    });
  });
}

async function calibrate(
  { contract: { slug }, isPrint = () => true }: EvaluatedEndpoint,
  drawn: readonly Outcome[],
  unseen: readonly Outcome[],
): Promise<void> {
  const file = new URL(`../src/endpoints/${slug}/calibration.ts`, import.meta.url);
  const { CALIBRATION: current } = (await import(file.href)) as { CALIBRATION: Calibration };
  const observations = asStated(drawn, current, isPrint).flatMap(({ kind, confidence }): Observation[] =>
    confidence === null || kind === 'unknown' ? [] : [{ logOdds: logOdds(confidence), isRight: kind === 'exact' }],
  );
  const [version] = new Set(drawn.map((each) => each.version));
  const right = observations.filter(({ isRight }) => isRight).length;
  const wrong = observations.length - right;
  if (version === undefined || observations.length < FEWEST_READINGS || wrong < FEWEST_WRONG) {
    console.log(
      `${slug}: ${wrong} wrong of ${observations.length} readings are too few, calibration.ts stays as it is`,
    );
    return;
  }
  const line = fitLogistic(observations);
  const [slope, offset] = [line.slope.toFixed(3), line.offset.toFixed(3)];
  await writeFile(
    fileURLToPath(file),
    `/**
 * Written by \`npm run -s models:calibrate\` (training/calibrate.ts): fitted to ${observations.length} readings of drawings, ${right} of them right.
 */
import type { Calibration } from '../../inference/toolkit/calibration.ts';

export const CALIBRATION: Calibration = { model: '${version}', slope: ${slope}, offset: ${offset} };
`,
  );
  console.log(`${slug}: slope ${slope}, offset ${offset} from ${observations.length} readings, ${right} right`);
  for (const source of ['drawings', 'photographs'] as const) {
    const before = asStated(
      unseen.filter(({ set }) => set.source === source),
      current,
      isPrint,
    );
    const after = before.map((each) => ({
      ...each,
      confidence: each.confidence === null ? null : calibrated(each.confidence, line),
    }));
    const [stated, fitted] = [reliabilityText(before), reliabilityText(after)];
    if (stated !== null) console.log(`\n${source} not used here, before: ${stated}\nafter: ${fitted}`);
  }
}
