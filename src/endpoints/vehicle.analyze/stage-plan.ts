import type { ValidRequest } from '../../contracts/endpoint-contract.ts';
import type { PlannedStage } from '../../contracts/run-bundle.ts';
import { stagesOfTasks } from '../shared/bundled-tasks.ts';
import { DEFAULT_TASKS, type Parameters } from './request.ts';

/** Each task is a stage; all stages run in parallel. */
export function stagePlan({ parameters, files }: ValidRequest): PlannedStage[] {
  const { tasks = DEFAULT_TASKS } = parameters as Parameters;
  return stagesOfTasks(tasks, files.length, { after: [], units: files.length, unitName: 'pictures' });
}
