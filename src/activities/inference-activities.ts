import { ApplicationFailure, Context } from '@temporalio/activity';
import type { InferenceOutcome } from '../contracts/job.ts';
import type { InferenceActivities } from '../contracts/run-job.ts';
import { Job } from '../db/entities.ts';
import { hasStagedOutcome, pickUpJob, stageOutcome } from '../db/job-progress.ts';
import type { EntityManager, MikroORM } from '../db/orm.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { InferenceBackend } from '../inference/backend.ts';
import { heartbeating } from './heartbeat.ts';

interface Dependencies {
  orm: MikroORM;
  backend: InferenceBackend;
  clock?: () => Date;
}

export function createInferenceActivities({
  orm,
  backend,
  clock = () => new Date(),
}: Dependencies): InferenceActivities {
  return {
    async runInference({ jobId, attempts }) {
      const em = orm.em.fork();
      const job = await em.findOneOrFail(Job, { id: jobId });
      try {
        if (!(await pickUpJob(em, jobId, backend.modelVersion(job), clock()))) return 'abandoned';
        // An earlier attempt may have finished and been lost before it could report.
        if (await hasStagedOutcome(em, jobId)) return 'staged';
        const outcome = await heartbeating(() => infer(backend, job));
        await stageOutcome(em, jobId, outcome);
        return 'staged';
      } catch (error) {
        return await failOrRetry(em, jobId, error, Context.current().info.attempt >= attempts);
      }
    },
  };
}

function infer(backend: InferenceBackend, job: Job): Promise<InferenceOutcome> {
  return backend.infer(
    {
      jobId: job.id,
      endpoint: job.endpoint,
      livemode: job.livemode,
      parameters: job.parameters,
      inputs: job.inputs,
      testScenario: job.testScenario,
      reservedCredits: job.reservedCredits,
    },
    { signal: Context.current().cancellationSignal },
  );
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
