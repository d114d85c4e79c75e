/** The endpoints of the families A and B that a bundle can run on each of its pictures. */
import { Type } from 'typebox';
import type { EndpointContract, Family } from '../contracts/endpoint-contract.ts';
import type { PlannedStage } from '../contracts/run-stages.ts';
import { outcomeOf } from '../contracts/vocabulary/bundle-schemas.ts';
import { closed } from '../contracts/vocabulary/schemas.ts';
import { damageDetect } from './damage.detect/contract.ts';
import { damageSeverity } from './damage.severity/contract.ts';
import { dashboardRead } from './dashboard.read/contract.ts';
import { documentRead } from './document.read/contract.ts';
import { driverLicenseRead } from './driver_license.read/contract.ts';
import { engineDetect } from './engine.detect/contract.ts';
import { plateRead } from './plate.read/contract.ts';
import { tireDetect } from './tire.detect/contract.ts';
import { tireRead } from './tire.read/contract.ts';
import { vehicleIdentify } from './vehicle.identify/contract.ts';
import { vehiclePose } from './vehicle.pose/contract.ts';
import { vehicleSegment } from './vehicle.segment/contract.ts';
import { vinRead } from './vin.read/contract.ts';

export const TASKS = [
  'vehicle.pose',
  'vehicle.segment',
  'vehicle.identify',
  'vin.read',
  'plate.read',
  'document.read',
  'driver_license.read',
  'dashboard.read',
  'engine.detect',
  'damage.detect',
  'damage.severity',
  'tire.read',
  'tire.detect',
] as const;

export type Task = (typeof TASKS)[number];

const CONTRACTS: Readonly<Record<Task, EndpointContract>> = {
  'vehicle.pose': vehiclePose,
  'vehicle.segment': vehicleSegment,
  'vehicle.identify': vehicleIdentify,
  'vin.read': vinRead,
  'plate.read': plateRead,
  'document.read': documentRead,
  'driver_license.read': driverLicenseRead,
  'dashboard.read': dashboardRead,
  'engine.detect': engineDetect,
  'damage.detect': damageDetect,
  'damage.severity': damageSeverity,
  'tire.read': tireRead,
  'tire.detect': tireDetect,
};

const outcome = <Result extends Type.TSchema>(result: Result) => Type.Optional(outcomeOf(result));

/** One outcome for each task that was asked for. */
export const taskOutcomes = closed(
  {
    'vehicle.pose': outcome(vehiclePose.result),
    'vehicle.segment': outcome(vehicleSegment.result),
    'vehicle.identify': outcome(vehicleIdentify.result),
    'vin.read': outcome(vinRead.result),
    'plate.read': outcome(plateRead.result),
    'document.read': outcome(documentRead.result),
    'driver_license.read': outcome(driverLicenseRead.result),
    'dashboard.read': outcome(dashboardRead.result),
    'engine.detect': outcome(engineDetect.result),
    'damage.detect': outcome(damageDetect.result),
    'damage.severity': outcome(damageSeverity.result),
    'tire.read': outcome(tireRead.result),
    'tire.detect': outcome(tireDetect.result),
  },
  'By the slug of the endpoint: one outcome for each that was asked for. Places are in pixels of that picture.',
);

export type TaskOutcomes = Type.Static<typeof taskOutcomes>;

/** Credits that one task costs on one picture. */
export function priceOfTask(task: Task): number {
  return CONTRACTS[task].priceCredits;
}

/** Credits that the tasks cost on one picture. */
export function priceOfTasks(tasks: readonly Task[]): number {
  return tasks.reduce((sum, task) => sum + CONTRACTS[task].priceCredits, 0);
}

/** Pictures that one activity takes: some seconds, so that little is repeated when a worker is lost. */
const PICTURES_PER_ACTIVITY = 10;

/** A stage for each task, on each of at most `pictures` pictures. None needs another, and the bundle goes on without any. */
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
    taskQueue: CONTRACTS[task].inferenceTaskQueue,
    priceCredits: pictures * priceOfTask(task),
  }));
}

/** Families of the endpoints that the tasks run. */
export function familiesOfTasks(tasks: readonly Task[]): Family[] {
  return [...new Set(tasks.map((task) => CONTRACTS[task].family))];
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
