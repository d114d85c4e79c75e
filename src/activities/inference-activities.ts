import { ApplicationFailure, Context } from '@temporalio/activity';
import type { RemoteRun } from '../contracts/dispatch.ts';
import type { InferenceOutcome } from '../contracts/job.ts';
import type { InferenceActivities } from '../contracts/run-job.ts';
import type { StageActivities, StagePlan } from '../contracts/run-stages.ts';
import type { Job } from '../db/entities.ts';
import { pickUpJob, stageOutcome } from '../db/jobs/job-progress.ts';
import { readJob } from '../db/jobs/read-job.ts';
import type { EntityManager } from '../db/orm.ts';
import { NotBegunError } from '../domain/not-begun-error.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { InferenceBackend, InferenceContext } from '../inference/backend.ts';
import { addLogFields } from '../observability/log-context.ts';
import { heartbeating } from './heartbeat.ts';
import { requestOf } from './inference-request.ts';
import { passedOn, passOn } from './pass-on.ts';
import { resultReader } from './read-result.ts';
import { createSettlementActivities, type SettlementObserver } from './settlement-activities.ts';
import { createStageActivities, type StageActivityDependencies } from './stage-activities.ts';
import { throughOutages } from './through-outages.ts';

interface Dependencies extends StageActivityDependencies {
  onSettled?: SettlementObserver | undefined;
  clock?: () => Date;
}

/** Of the time that an attempt has, what a job may wait for a process; the rest is for computing. */
const WAITING_SHARE = 1 / 4;

export function createInferenceActivities({
  orm,
  backend,
  onSettled,
  clock = () => new Date(),
  ...observers
}: Dependencies): InferenceActivities & StageActivities {
  const { settleJob } = createSettlementActivities({ orm, onSettled, clock });
  return {
    ...createStageActivities({ orm, backend, ...observers }),

    async runInference({ jobId, attempts, settles = false, mayPassOn = false }) {
      const em = orm.em.fork();
      const job = await throughOutages(() => readJob(em, jobId));
      addLogFields({ requestId: job.requestId });
      try {
        const choose = () => buildFor(job, backend.modelVersion(job));
        const leftToOthers = await passOn(em, { job, modelVersion: job.pinnedModelVersion, mayPassOn }, choose);
        if (leftToOthers) return leftToOthers;
        const modelVersion = choose();
        const pickUp = await throughOutages(() => pickUpJob(em, jobId, modelVersion, clock()));
        if (!pickUp) return 'abandoned';
        if (pickUp.isOutcomeStaged) return 'staged';
        const answer = await heartbeating(() =>
          planOrInfer(backend, job, {
            modelVersion,
            readResult: resultReader(orm, job),
            ...(mayPassOn && { waitMs: Context.current().info.startToCloseTimeoutMs * WAITING_SHARE }),
          }),
        );
        if (isForTheWorkflow(answer)) return answer;
        if (settles) return await throughOutages(() => settleJob({ jobId, outcome: answer, failure: null }));
        await throughOutages(() => stageOutcome(em, jobId, answer));
        return 'staged';
      } catch (error) {
        if (error instanceof NotBegunError) return { ...passedOn(), isBusy: true };
        return await failOrRetry(em, jobId, error, Context.current().info.attempt >= attempts);
      }
    },
  };
}

/** A request may pin the build that answers. @throws ServiceError `model_unavailable` where another is installed */
export function buildFor({ pinnedModelVersion }: Job, installed: string): string {
  if (pinnedModelVersion === null || pinnedModelVersion === installed) return installed;
  throw new ServiceError(
    'model_unavailable',
    `${pinnedModelVersion}, which Model-Version asked for, is no longer installed.`,
  );
}

/** A bundle is only planned, and a job of another cluster not sent yet: the workflow goes on with them. */
async function planOrInfer(
  backend: InferenceBackend,
  job: Job,
  { modelVersion, ...how }: { modelVersion: string } & Omit<InferenceContext, 'signal'>,
): Promise<StagePlan | RemoteRun | InferenceOutcome> {
  const remote = backend.remoteRun?.(job);
  if (remote) return remote;
  const context = { signal: Context.current().cancellationSignal, ...how };
  const request = requestOf(job);
  return (await backend.staged?.plan(request, context)) ?? backend.infer({ ...request, modelVersion }, context);
}

function isForTheWorkflow(answer: StagePlan | RemoteRun | InferenceOutcome): answer is StagePlan | RemoteRun {
  return 'isRemote' in answer || ('stages' in answer && 'isShown' in answer);
}

/** A known failure ends the job when no attempt is left or none would help; anything else is left to Temporal's retry. */
export async function failOrRetry(
  em: EntityManager,
  jobId: string,
  error: unknown,
  lastAttempt: boolean,
): Promise<'staged'> {
  if (Context.current().cancellationSignal.aborted || !(error instanceof ServiceError)) throw error;
  if (error.retryable && !lastAttempt) {
    throw ApplicationFailure.create({ message: error.message, type: error.code, cause: error });
  }
  const outcome = { status: 'failed', result: null, error: error.toJobError(), chargedCredits: 0 } as const;
  await throughOutages(() => stageOutcome(em, jobId, outcome));
  return 'staged';
}
