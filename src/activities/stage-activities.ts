/** The stages of bundles: run some units of one, and make one outcome of all. */
import { ApplicationFailure, Context } from '@temporalio/activity';
import type { StageActivities } from '../contracts/run-stages.ts';
import { Job } from '../db/entities.ts';
import { stageOutcome } from '../db/jobs/job-progress.ts';
import { keepStageOutcome, readStageOutcome, readStageOutcomes } from '../db/jobs/stage-outcomes.ts';
import type { MikroORM } from '../db/orm.ts';
import { ServiceError } from '../domain/service-error.ts';
import { foundByStages, foundUnits, reportOf, settledProgress } from '../domain/stage-outcomes.ts';
import type { InferenceBackend, StagedInference } from '../inference/backend.ts';
import { heartbeating } from './heartbeat.ts';
import { requestOf } from './inference-request.ts';
import { passOn } from './pass-on.ts';
import { resultReader } from './read-result.ts';
import { throughOutages } from './through-outages.ts';

export interface StageActivityDependencies {
  orm: MikroORM;
  backend: InferenceBackend;
  /** Told of units that are begun with, and how long they waited for a worker. */
  onStagePickUp?: (pickUp: { endpoint: string; livemode: boolean; stage: string; queuedMs: number }) => void;
}

export function createStageActivities({ orm, backend, onStagePickUp }: StageActivityDependencies): StageActivities {
  return {
    async runStage(range) {
      const { jobId, stage, firstUnit, units, attempts, mayPassOn = false } = range;
      const queuedMs = Date.now() - Context.current().info.currentAttemptScheduledTimestampMs;
      const em = orm.em.fork();
      // An earlier attempt, or an earlier run of a workflow that was terminated, may have come to its end.
      const kept = await throughOutages(() => readStageOutcome(em, jobId, { stage: stage.name, firstUnit }));
      if (kept) return reportOf(kept, range);

      const job = await throughOutages(() => em.findOneOrFail(Job, { id: jobId }));
      const wanted = { job, modelVersion: null, mayPassOn };
      // What needs no model that is missing here runs here where nobody else has them all.
      const passedOn = await passOn(em, wanted, () => backend.modelVersion(job));
      if (passedOn) return passedOn;
      const request = requestOf(job);
      const { endpoint, livemode } = request;
      onStagePickUp?.({ endpoint, livemode, stage: stage.name, queuedMs });
      const found = foundUnits(await throughOutages(() => readStageOutcomes(em, jobId, stage.after)));
      const { info, cancellationSignal: signal } = Context.current();
      try {
        const outcome = await heartbeating((tell) =>
          stagedBy(backend).runUnits(request, range, {
            signal,
            startedAt: job.startedAt,
            found,
            isLastAttempt: info.attempt >= attempts,
            readResult: resultReader(orm, job),
            onProgress: (doneUnits) => tell(`${doneUnits} of ${units} ${stage.unitName}`),
          }),
        );
        await throughOutages(() => keepStageOutcome(em, jobId, { stage: stage.name, firstUnit, outcome }));
        return reportOf(outcome, range);
      } catch (error) {
        if (signal.aborted || !(error instanceof ServiceError)) throw error;
        // Under its code, so that the stage can tell why it failed when no attempt is left.
        throw ApplicationFailure.create({ message: error.message, type: error.code, cause: error });
      }
    },

    async composeStages({ jobId, plan, progress }) {
      const em = orm.em.fork();
      const job = await throughOutages(() => em.findOneOrFail(Job, { id: jobId }));
      const names = plan.stages.map(({ name }) => name);
      const kept = await throughOutages(() => readStageOutcomes(em, jobId, names));
      const found = foundByStages(progress, kept);
      const shownStages = plan.isShown ? job.stages : null;
      const outcome = await heartbeating(() =>
        stagedBy(backend).compose(requestOf(job), {
          plan,
          progress: settledProgress(plan, progress, found),
          found,
          shownStages,
        }),
      );
      await throughOutages(() => stageOutcome(em, jobId, outcome));
    },
  };
}

function stagedBy({ staged }: InferenceBackend): StagedInference {
  if (!staged) throw new Error('the backend of this worker runs every endpoint in one step');
  return staged;
}
