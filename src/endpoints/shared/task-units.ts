/** Runs the tasks of bundles as units of stages: one task on one picture. */
import type { Found, JobInput, UnitOutcome } from '../../contracts/job.ts';
import type { BundleDefinition, InferOne } from '../../inference/bundles/bundle-definition.ts';
import { priceOfTask, TASKS, type Task, type TaskOutcomes } from './bundled-tasks.ts';

type AnyOutcome = NonNullable<TaskOutcomes[Task]>;

/** Test mode: the outcome of a task on a picture, from the fixture of the bundle. */
export function unitOfTask(outcomes: TaskOutcomes | undefined, task: string): UnitOutcome {
  const outcome = outcomes?.[task as Task];
  if (!outcome) throw new Error(`a fixture of a bundle has no outcome of ${task}`);
  if (outcome.error) return { status: 'failed', error: outcome.error };
  return { status: 'succeeded', value: outcome.result, chargedCredits: outcome.charged_credits };
}

/** Live mode: runs the task's own endpoint on one picture. */
export const runTask: NonNullable<BundleDefinition<unknown>['live']>['runUnit'] = async (
  { stage, index, inputs },
  infer,
): Promise<UnitOutcome> => {
  const input = inputs[index];
  if (!input) throw new Error(`the job has no picture ${index}`);
  return runTaskOn(stage, input, infer);
};

export async function runTaskOn(task: string, picture: JobInput, infer: InferOne): Promise<UnitOutcome> {
  const { result, error } = await infer(task, picture);
  return error ? { status: 'failed', error } : { status: 'succeeded', value: result };
}

/** The outcomes of all tasks on one picture. */
export function outcomesOfPicture(found: Found, index: number): TaskOutcomes {
  return Object.fromEntries(
    TASKS.flatMap((task) => {
      const unit = found[task]?.[index];
      return unit ? [[task, outcomeOfUnit(task, unit)] as const] : [];
    }),
  );
}

function outcomeOfUnit(task: Task, unit: UnitOutcome): AnyOutcome {
  const outcome =
    unit.status === 'succeeded'
      ? { status: 'succeeded', result: unit.value, error: null, charged_credits: priceOfTask(task) }
      : { status: 'failed', result: null, error: unit.error, charged_credits: 0 };
  // The whole result is validated against its schema before it is stored.
  return outcome as AnyOutcome;
}
