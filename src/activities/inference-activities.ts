/** Runs jobs of one step; plans bundles; names the cluster of jobs that another cluster runs. */
import { Context } from '@temporalio/activity';
import type { RemoteRun } from '../contracts/dispatch.ts';
import type { HandedBack } from '../contracts/handed-back.ts';
import type { InferenceBackend, InferenceContext } from '../contracts/inference-backend.ts';
import type { InferenceOutcome } from '../contracts/job.ts';
import type { Trial } from '../contracts/release-choice.ts';
import type { StageActivities, StagePlan } from '../contracts/run-bundle.ts';
import { encodeInferenceResult, type InferenceActivities, type InferenceResult } from '../contracts/run-job.ts';
import { NoCapacityError } from '../inference/runtime/no-capacity-error.ts';
import type { Job } from '../jobs/entities.ts';
import { createResultReader, readJob } from '../jobs/jobs-store.ts';
import { savePendingOutcome } from '../jobs/pending-outcomes-store.ts';
import { pickUpJob } from '../jobs/pick-up-store.ts';
import { buildFor } from '../jobs/pinned-build.ts';
import { addLogFields } from '../platform/logging/log-context.ts';
import { isSampled } from '../releases/is-sampled.ts';
import { failOrRetry } from './fail-or-retry.ts';
import { handBack, handedBack } from './hand-back.ts';
import { heartbeating } from './heartbeat.ts';
import { longestWaitMs, requestOf } from './inference-request.ts';
import { createSettlementActivities, type SettlementObserver } from './settlement-activities.ts';
import { createStageActivities, type StageActivityDependencies } from './stage-activities.ts';
import { throughOutages } from './through-outages.ts';

interface Dependencies extends StageActivityDependencies {
  onSettled?: SettlementObserver | undefined;
  clock?: () => Date;
}

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

    async runInference(input) {
      const result = await infer(input);
      return result.kind === 'handed_back' ? result : encodeInferenceResult(result);
    },
  };

  async function infer({
    jobId,
    attempts,
    settles = false,
    mayPassOn = false,
  }: Parameters<InferenceActivities['runInference']>[0]): Promise<
    InferenceResult | (HandedBack & { kind: 'handed_back' })
  > {
    const em = orm.em.fork();
    const job = await throughOutages(() => readJob(em, jobId));
    addLogFields({ requestId: job.requestId });
    try {
      // Only the first attempt: what a canary cannot do, the serving release does.
      const canary = Context.current().info.attempt === 1 ? trialOf(backend, job, 'canary') : null;
      const choose = () => canary ?? buildFor(job, backend.modelVersion(job));
      const leftToOthers = await handBack(em, { job, modelVersion: job.pinnedModelVersion, mayPassOn }, choose);
      if (leftToOthers) return leftToOthers;
      const modelVersion = choose();
      const pickUp = await throughOutages(() => pickUpJob(em, jobId, modelVersion, clock()));
      if (!pickUp) return { kind: 'abandoned' };
      if (pickUp.isOutcomePending) return { kind: 'pending' };
      const found = await heartbeating(() =>
        planOrInfer(backend, job, {
          modelVersion,
          readResult: createResultReader(orm, job),
          ...(mayPassOn && { waitMs: longestWaitMs() }),
        }),
      );
      if (found.kind !== 'found') return found;
      const { outcome } = found;
      if (settles) {
        const settlement = await throughOutages(() => settleJob({ jobId, outcome, failure: null }));
        const shadow = settlement.status === 'succeeded' ? trialOf(backend, job, 'shadow') : null;
        const isWanted = shadow !== null && shadow !== modelVersion;
        return { kind: 'settled', settlement: { ...settlement, ...(isWanted && { shadow }) } };
      }
      await throughOutages(() => savePendingOutcome(em, jobId, outcome));
    } catch (error) {
      if (error instanceof NoCapacityError) return { ...handedBack(), isBusy: true };
      await failOrRetry(em, jobId, error, Context.current().info.attempt >= attempts);
    }
    return { kind: 'pending' };
  }
}

/** The release on trial that gets the job: a live one that pins no release, and is in the share. */
function trialOf(
  backend: InferenceBackend,
  { id, endpoint, livemode, pinnedModelVersion }: Job,
  mode: Trial['mode'],
): string | null {
  if (!livemode || pinnedModelVersion !== null) return null;
  const trial = backend.trial?.(endpoint);
  return trial?.mode === mode && isSampled(id, trial.sharePercent) ? trial.modelVersion : null;
}

type Inference =
  | { kind: 'remote'; run: RemoteRun }
  | { kind: 'planned'; plan: StagePlan }
  | { kind: 'found'; outcome: InferenceOutcome };

async function planOrInfer(
  backend: InferenceBackend,
  job: Job,
  { modelVersion, ...how }: { modelVersion: string } & Omit<InferenceContext, 'signal'>,
): Promise<Inference> {
  const run = backend.remoteRun?.(job);
  if (run) return { kind: 'remote', run };
  const context = { signal: Context.current().cancellationSignal, ...how };
  const request = requestOf(job);
  const plan = await backend.bundles?.plan(request, context);
  if (plan) return { kind: 'planned', plan };
  return { kind: 'found', outcome: await backend.infer({ ...request, modelVersion }, context) };
}
