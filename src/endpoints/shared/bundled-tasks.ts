/** The endpoints of the families A and B that a bundle can run on each of its pictures. */
import { Type } from 'typebox';
import type { EndpointContract, Family } from '../../contracts/endpoint-contract.ts';
import type { PlannedStage } from '../../contracts/run-bundle.ts';
import { outcomeOf } from '../../contracts/vocabulary/bundles.ts';
import { closed } from '../../contracts/vocabulary/schemas.ts';
import { damageDetect } from '../damage.detect/contract.ts';
import { damageSeverity } from '../damage.severity/contract.ts';
import { dashboardRead } from '../dashboard.read/contract.ts';
import { documentRead } from '../document.read/contract.ts';
import { driverLicenseRead } from '../driver_license.read/contract.ts';
import { engineDetect } from '../engine.detect/contract.ts';
import { plateRead } from '../plate.read/contract.ts';
import { tireDetect } from '../tire.detect/contract.ts';
import { tireRead } from '../tire.read/contract.ts';
import { vehicleIdentify } from '../vehicle.identify/contract.ts';
import { vehiclePose } from '../vehicle.pose/contract.ts';
import { vehicleSegment } from '../vehicle.segment/contract.ts';
import { vinRead } from '../vin.read/contract.ts';

const BUNDLED = [
  vehiclePose,
  vehicleSegment,
  vehicleIdentify,
  vinRead,
  plateRead,
  documentRead,
  driverLicenseRead,
  dashboardRead,
  engineDetect,
  damageDetect,
  damageSeverity,
  tireRead,
  tireDetect,
] as const satisfies readonly EndpointContract[];

type Bundled = (typeof BUNDLED)[number];

/** The slug of an endpoint that a bundle can run. */
export type Task = Bundled['slug'];

export const TASKS: readonly Task[] = BUNDLED.map(({ slug }) => slug);

const contractOf = Object.fromEntries(BUNDLED.map((contract) => [contract.slug, contract])) as {
  readonly [Contract in Bundled as Contract['slug']]: Contract;
};

const outcome = <Result extends Type.TSchema>(result: Result) => Type.Optional(outcomeOf(result));

type OutcomeSchemas = {
  [Contract in Bundled as Contract['slug']]: ReturnType<typeof outcome<Contract['result']>>;
};

/** The outcome of each requested task. */
export const taskOutcomes = closed(
  // `Object.fromEntries` cannot tell that each slug goes with its own result.
  Object.fromEntries(BUNDLED.map(({ slug, result }) => [slug, outcome(result)])) as unknown as OutcomeSchemas,
  'By the slug of the endpoint: one outcome for each requested endpoint. Coordinates are in pixels of that picture.',
);

export type TaskOutcomes = Type.Static<typeof taskOutcomes>;

/** Credits that one task costs on one picture. */
export function priceOfTask(task: Task): number {
  return contractOf[task].priceCredits;
}

/** Credits that the tasks cost on one picture. */
export function priceOfTasks(tasks: readonly Task[]): number {
  return tasks.reduce((sum, task) => sum + priceOfTask(task), 0);
}

/** Pictures per activity: a few seconds of work, so that a lost worker repeats little. */
const PICTURES_PER_ACTIVITY = 10;

/**
 * A stage for each task, on at most `pictures` pictures. The stages are independent, and the bundle continues without any
 * that fails.
 */
export function stagesOfTasks(
  tasks: readonly Task[],
  pictures: number,
  run: Pick<PlannedStage, 'after' | 'units' | 'unitName'>,
): PlannedStage[] {
  return TASKS.filter((task) => tasks.includes(task)).map((task) => ({
    ...run,
    name: task,
    isOptional: true,
    unitsPerActivity: PICTURES_PER_ACTIVITY,
    taskQueue: contractOf[task].inferenceTaskQueue,
    priceCredits: pictures * priceOfTask(task),
  }));
}

/** Families of the endpoints that the tasks run. */
export function familiesOfTasks(tasks: readonly Task[]): Family[] {
  return [...new Set(tasks.map((task) => contractOf[task].family))];
}

/** The outcomes of the chosen tasks, in the order of TASKS. */
export function chosenOutcomes(outcomes: TaskOutcomes, tasks: readonly Task[]): TaskOutcomes {
  return Object.fromEntries(
    TASKS.filter((task) => tasks.includes(task) && outcomes[task]).map((task) => [task, outcomes[task]]),
  );
}

export function chargeOfOutcomes(outcomes: TaskOutcomes): number {
  return Object.values(outcomes).reduce((sum, { charged_credits }) => sum + charged_credits, 0);
}
