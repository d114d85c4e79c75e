import { ApplicationFailure, Context } from '@temporalio/activity';
import type { InferenceOutcome } from '../contracts/job.ts';
import type { InferenceActivities } from '../contracts/run-job.ts';
import type { StageActivities, StagePlan } from '../contracts/run-stages.ts';
import type { Job } from '../db/entities.ts';
import { pickUpJob, stageOutcome } from '../db/jobs/job-progress.ts';
import { readJob } from '../db/jobs/read-job.ts';
import type { EntityManager, MikroORM } from '../db/orm.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { InferenceBackend } from '../inference/backend.ts';
import { addLogFields } from '../observability/log-context.ts';
import { heartbeating } from './heartbeat.ts';
import { requestOf } from './inference-request.ts';
import { createStageActivities } from './stage-activities.ts';

interface Dependencies {
  orm: MikroORM;
  backend: InferenceBackend;
  clock?: () => Date;
}

export function createInferenceActivities({
  orm,
  backend,
  clock = () => new Date(),
}: Dependencies): InferenceActivities & StageActivities {
  return {
    ...createStageActivities({ orm, backend }),

    async runInference({ jobId, attempts }) {
      const em = orm.em.fork();
      const job = await readJob(em, jobId);
      addLogFields({ requestId: job.requestId });
      try {
        const modelVersion = backend.modelVersion(job);
        refuseAnotherBuild(job, modelVersion);
        const pickUp = await pickUpJob(em, jobId, modelVersion, clock());
        if (!pickUp) return 'abandoned';
        if (pickUp.isOutcomeStaged) return 'staged';
        const answer = await heartbeating(() => planOrInfer(backend, job));
        if ('stages' in answer && 'isShown' in answer) return answer;
        await stageOutcome(em, jobId, answer);
        return 'staged';
      } catch (error) {
        return await failOrRetry(em, jobId, error, Context.current().info.attempt >= attempts);
      }
    },
  };
}

/** A request may pin the build that answers. Another worker may still have it. */
function refuseAnotherBuild({ pinnedModelVersion }: Job, installed: string): void {
  if (pinnedModelVersion === null || pinnedModelVersion === installed) return;
  throw new ServiceError(
    'model_unavailable',
    `${pinnedModelVersion}, which Model-Version asked for, is no longer installed.`,
  );
}

/** A bundle is only planned: its workflow runs the stages. */
async function planOrInfer(backend: InferenceBackend, job: Job): Promise<StagePlan | InferenceOutcome> {
  const context = { signal: Context.current().cancellationSignal };
  const request = requestOf(job);
  return (await backend.staged?.plan(request, context)) ?? backend.infer(request, context);
}

/** A known failure ends the job when no attempt is left or none would help; anything else is left to Temporal's retry. */
async function failOrRetry(em: EntityManager, jobId: string, error: unknown, lastAttempt: boolean): Promise<'staged'> {
  if (Context.current().cancellationSignal.aborted || !(error instanceof ServiceError)) throw error;
  if (error.retryable && !lastAttempt) {
    throw ApplicationFailure.create({ message: error.message, type: error.code, cause: error });
  }
  await stageOutcome(em, jobId, { status: 'failed', result: null, error: error.toJobError(), chargedCredits: 0 });
  return 'staged';
}
