/** A live inspection of what its endpoints say: from their results to the composed one. */
import { expect, test } from 'vitest';
import type { Found, UnitOutcome } from '../../../src/contracts/job.ts';
import { bundle } from '../../../src/endpoints/inspections/bundle.ts';
import type { Result } from '../../../src/endpoints/inspections/result.ts';
import { STAGES } from '../../../src/endpoints/inspections/stage-plan.ts';
import type { BundleTools, InferOne } from '../../../src/inference/bundles/bundle-definition.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { textOf } from '../../support/pdf.ts';

const bbox = { x: 100, y: 100, width: 20, height: 20 };
const scratch = {
  id: 'damage_1',
  type: 'scratch',
  part: null,
  side: null,
  confidence: 0.96,
  bbox,
  polygon: [],
  size: null,
};
const minor = { severity: { value: 'minor', confidence: 0.4 }, repair_method: { value: 'polish', confidence: 0.4 } };

interface Said {
  view: string | null;
  damages: object[];
}

async function inspect(pictures: readonly Said[]) {
  const inputs = pictures.map((_, index) => ({
    field: 'images',
    storageKey: `${index}`,
    mediaType: 'image/jpeg',
    bytes: 1,
    sha256: '',
    uploadId: null,
  }));
  const estimated: unknown[] = [];
  const infer: InferOne = async (endpoint, input, parameters = {}) => {
    const { view, damages } = pictures[Number(input?.storageKey ?? 0)] as Said;
    const says: Record<string, object> = {
      'vehicle.pose': { view: view && { value: view, confidence: 0.9 }, quality_issues: [] },
      'damage.detect': { damages, parts_seen: [] },
      // Its box holds all of the damage.
      'parts.recognize': {
        parts: view
          ? [{ part: 'headlight', side: 'left', confidence: 0.9, bbox: { x: 0, y: 0, width: 200, height: 200 } }]
          : [],
      },
      'damage.severity': {
        damages: ((parameters.damages as object[] | undefined) ?? []).map((damage) => ({ ...damage, ...minor })),
        overall: { drivable: { value: true, confidence: 0.4 } },
      },
      'pricing.repair': fixtureOf<Result>('inspections', 'default').repair_estimate as object,
    };
    if (endpoint === 'pricing.repair') estimated.push(parameters.foundDamages);
    return { result: says[endpoint], error: null } as Awaited<ReturnType<InferOne>>;
  };
  let report = '';
  const tools = {
    makePreviews: async (shown: readonly unknown[]) => shown.map(() => null),
    writeArtefact: async ({ content }: { content: Buffer }) => {
      report = textOf(content);
      return {};
    },
    jobId: 'job_1111111111111111111111',
  } as unknown as BundleTools;
  const found: Record<string, UnitOutcome[]> = {};
  for (const stage of STAGES) {
    const unit = { stage, found: found as Found, inputs, parameters: {} };
    if (!bundle.live?.hasWork?.(unit)) continue;
    const units = ['merge', 'repair_estimate', 'report'].includes(stage) ? 1 : inputs.length;
    const outcomes: UnitOutcome[] = [];
    for (let index = 0; index < units; index += 1) {
      const outcome = await bundle.live.runUnit({ ...unit, index }, infer, tools);
      if (outcome) outcomes.push(outcome);
    }
    found[stage] = outcomes;
  }
  const { result } = bundle.compose(found, { inputs, parameters: {} });
  return { result, estimated, report };
}

test('a damage on a close-up without a view counts towards findings, condition, estimate and report', async () => {
  const { result, estimated, report } = await inspect([
    { view: 'front_left', damages: [] },
    { view: null, damages: [scratch] },
  ]);
  expect(result.views.map(({ is_usable, findings }) => [is_usable, findings.length])).toEqual([
    [true, 0],
    [false, 1],
  ]);
  expect(result.views[1]?.findings).toMatchObject([{ damage_id: 'damage_1', part: null }]);
  expect(result.parts).toMatchObject([
    { part: null, side: null, views: [1], damages: [{ id: 'damage_1', views: [1] }] },
    { part: 'headlight', damages: [] },
  ]);
  expect(result.overall?.condition_grade.value).toBe('B');
  expect(result.repair_estimate_omitted).toBeNull();
  expect(estimated).toMatchObject([[{ id: 'damage_1', part: null }]]);
  expect(report).toMatch(/^1\nunknown part\nscratch, minor\npolish\nseen on 2$/m);
  expect(report).toContain('2  unknown, not counted as a view');
});

test('a close-up alone is graded by its damage', async () => {
  const { result } = await inspect([{ view: null, damages: [scratch] }]);
  expect(result.overall).toMatchObject({ condition_grade: { value: 'B' }, drivable: { value: true } });
  expect(result.repair_estimate_omitted).toBeNull();
});

test('a damage keeps that its part is unknown, also where the box of a part holds it', async () => {
  const { result } = await inspect([{ view: 'front_left', damages: [scratch] }]);
  expect(result.views[0]?.findings).toMatchObject([{ damage_id: 'damage_1', part: null, side: null }]);
  expect(result.parts.find(({ part }) => part === 'headlight')?.damages).toEqual([]);
});
