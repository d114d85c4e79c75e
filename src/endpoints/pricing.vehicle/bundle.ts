/** A valuation with pictures: what each shows of the condition, then the value. */
import type { Found } from '../../contracts/job.ts';
import { type BundleDefinition, foundValue, resultOf } from '../../inference/bundles/bundle-definition.ts';
import type { Result as Severities } from '../damage.severity/result.ts';
import { GRADE_OF_WORST } from '../shared/condition-grades.ts';
import type { PhotographedCondition } from './live-value.ts';
import type { Result } from './result.ts';

/** A damage that is less sure lowers no price. */
const LEAST_SURE = 0.5;

export const bundle: BundleDefinition<Result> = {
  unitOfFixture: ({ stage }, fixture) => ({ status: 'succeeded', value: stage === 'valuation' ? fixture : null }),
  live: {
    // Price books, which are announced without it.
    requires: [],
    runUnit: async ({ stage, index, found, inputs, parameters }, infer) => {
      if (stage === 'condition') {
        const { overall } = await resultOf<Severities>(infer, 'damage.severity', inputs[index] ?? null);
        return { status: 'succeeded', value: conditionOf(overall) };
      }
      const photographed = worstOf(found);
      return {
        status: 'succeeded',
        value: await resultOf<Result>(infer, 'pricing.vehicle', null, { ...parameters, photographed }),
      };
    },
  },
  compose: ({ valuation }) => {
    const result = foundValue<Result>(valuation?.[0]);
    if (!result) throw new Error('the valuation has no result');
    return { result };
  },
};

/** Null without a sure damage: pictures show what is damaged, not that nothing is. */
function conditionOf(overall: Severities['overall']): PhotographedCondition | null {
  if (!overall || overall.severity.confidence < LEAST_SURE) return null;
  return { grade: GRADE_OF_WORST[overall.severity.value], confidence: overall.severity.confidence };
}

/** Over all pictures that could be read. Grades sort by their letters. */
function worstOf({ condition = [] }: Found): PhotographedCondition | null {
  const seen = condition.flatMap((unit) => foundValue<PhotographedCondition | null>(unit) ?? []);
  const [worst] = seen.toSorted((a, b) => b.grade.localeCompare(a.grade) || b.confidence - a.confidence);
  return worst ?? null;
}
