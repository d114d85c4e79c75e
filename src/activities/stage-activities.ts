/** Runs units of a bundle's stages, and composes one outcome of all stages. */
import { ApplicationFailure, Context } from '@temporalio/activity';
import type { BundleInference, InferenceBackend } from '../contracts/inference-backend.ts';
import type { StageActivities } from '../contracts/run-bundle.ts';
import { createResultReader, readJob } from '../jobs/jobs-store.ts';
import { savePendingOutcome } from '../jobs/pending-outcomes-store.ts';
import { foundByStages, foundUnits, reportOf, settledProgress } from '../jobs/stage-outcomes.ts';
import { keepStageOutcome, readStageOutcome, readStageOutcomes } from '../jobs/stage-outcomes-store.ts';
import type { MikroORM } from '../platform/database/orm.ts';
import { ServiceError } from '../platform/service-error.ts';
import { handBack } from './hand-back.ts';
import { heartbeating } from './heartbeat.ts';
import { requestOf } from './inference-request.ts';
import { throughOutages } from './through-outages.ts';

export interface StageActivityDependencies {
  orm: MikroORM;
  backend: InferenceBackend;
  /** Called when units begin, with the time that they waited for a worker. */
  onStagePickUp?: (pickUp: { endpoint: string; livemode: boolean; stage: string; queuedMs: number }) => void;
}

export function createStageActivities({ orm, backend, onStagePickUp }: StageActivityDependencies): StageActivities {
  return {
    async runStage(range) {
      const { jobId, stage, firstUnit, units, attempts, mayPassOn = false } = range;
      const queuedMs = Date.now() - Context.current().info.currentAttemptScheduledTimestampMs;
      const em = orm.em.fork();
      // An earlier attempt, or an earlier run of a terminated workflow, may have finished these units.
      const kept = await throughOutages(() => readStageOutcome(em, jobId, { stage: stage.name, firstUnit }));
      if (kept) return reportOf(kept, range);

      const job = await throughOutages(() => readJob(em, jobId));
      // A stage needs the models of what it requires, or else of its endpoint. When no worker has them all, the units whose
      // models are here run here.
      const needed = { endpoint: stage.requires ?? job.endpoint, livemode: job.livemode };
      const wanted = { job: needed, modelVersion: null, mayPassOn };
      const handedBack = await handBack(em, wanted, () => backend.modelVersion(needed));
      if (handedBack) return handedBack;
      const request = requestOf(job);
      const { endpoint, livemode } = request;
      onStagePickUp?.({ endpoint, livemode, stage: stage.name, queuedMs });
      const found = foundUnits(await throughOutages(() => readStageOutcomes(em, jobId, stage.after)));
      const { info, cancellationSignal: signal } = Context.current();
      try {
        const outcome = await heartbeating((report) =>
          bundlesOf(backend).runUnits(request, range, {
            signal,
            startedAt: job.startedAt,
            found,
            isLastAttempt: info.attempt >= attempts,
            readResult: createResultReader(orm, job),
            onProgress: (doneUnits) => report(`${doneUnits} of ${units} ${stage.unitName}`),
          }),
        );
        await throughOutages(() => keepStageOutcome(em, jobId, { stage: stage.name, firstUnit, outcome }));
        return reportOf(outcome, range);
      } catch (error) {
        if (signal.aborted || !(error instanceof ServiceError)) throw error;
        if (stage.requires !== undefined) {
          const answer = await handBack(em, wanted, () => {
            throw error;
          });
          if (answer) return answer;
        }
        // Under its code, so that the stage can report why it failed when no attempt is left.
        throw ApplicationFailure.create({ message: error.message, type: error.code, cause: error });
      }
    },

    async composeStages({ jobId, plan, progress }) {
      const em = orm.em.fork();
      const job = await throughOutages(() => readJob(em, jobId));
      const names = plan.stages.map(({ name }) => name);
      const kept = await throughOutages(() => readStageOutcomes(em, jobId, names));
      const found = foundByStages(progress, kept);
      const shownStages = plan.isShown ? job.stages : null;
      const outcome = await heartbeating(() =>
        bundlesOf(backend).compose(requestOf(job), {
          plan,
          progress: settledProgress(plan, progress, found),
          found,
          shownStages,
        }),
      );
      await throughOutages(() => savePendingOutcome(em, jobId, outcome));
    },
  };
}

function bundlesOf({ bundles }: InferenceBackend): BundleInference {
  if (!bundles) throw new Error('the backend of this worker runs every endpoint in one step');
  return bundles;
}
