/** Runs ended jobs again on a release in the shadow. Reads their rows and files, and changes neither. */
import { ApplicationFailure, Context } from '@temporalio/activity';
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { InferenceBackend } from '../contracts/inference-backend.ts';
import type { ShadowActivities, ShadowEnd, ShadowRecordActivities } from '../contracts/shadow-job.ts';
import { NoCapacityError } from '../inference/runtime/no-capacity-error.ts';
import type { Job } from '../jobs/entities.ts';
import { createResultReader, readJob } from '../jobs/jobs-store.ts';
import { buildFor } from '../jobs/pinned-build.ts';
import type { MikroORM } from '../platform/database/orm.ts';
import { addLogFields } from '../platform/logging/log-context.ts';
import { ServiceError } from '../platform/service-error.ts';
import { ObjectNotFoundError, type ObjectStore } from '../platform/storage/object-store.ts';
import { compareResults } from '../releases/compare-results.ts';
import { isInShadow } from '../releases/release-choices-store.ts';
import { type RecordedRun, recordShadowRun, type ShadowRun } from '../releases/shadow-runs-store.ts';
import { handBack, handedBack } from './hand-back.ts';
import { heartbeating } from './heartbeat.ts';
import { longestWaitMs, requestOf } from './inference-request.ts';
import { throughOutages } from './through-outages.ts';

interface RecordDependencies {
  orm: MikroORM;
  /** Called once for each run that was recorded here. */
  onRecorded?: ((run: RecordedRun) => void) | undefined;
}

interface Dependencies extends RecordDependencies {
  /** One that counts no inference: the shadow is no part of what customers get. */
  backend: InferenceBackend;
  store: Pick<ObjectStore, 'size'>;
}

/** Say nothing about the release. */
const NOT_RUN: ReadonlySet<ErrorCode> = new Set(['job_expired', 'model_unavailable', 'service_unavailable']);

export function createShadowActivities({ orm, backend, store, onRecorded }: Dependencies): ShadowActivities {
  const record = recorder({ orm, onRecorded });
  return {
    async runShadow({ jobId, modelVersion, attempts }) {
      const em = orm.em.fork();
      const job = await throughOutages(() => readJob(em, jobId));
      addLogFields({ requestId: job.requestId });
      if (!(await throughOutages(() => isInShadow(em, job.endpoint, modelVersion)))) {
        return record(jobId, modelVersion, without('not_run', 'trial_ended'));
      }
      const { endpoint, livemode, inputs } = job;
      const wanted = { endpoint, livemode, inputs, pinnedModelVersion: modelVersion };
      const choose = () => buildFor(wanted, backend.modelVersion(wanted));
      try {
        if (job.result === null || !(await hasFiles(job)))
          return await record(jobId, modelVersion, without('inputs_gone'));
        const leftToOthers = await handBack(em, { job, modelVersion, mayPassOn: true }, choose);
        if (leftToOthers) return leftToOthers;
        const { result, error } = await heartbeating(() =>
          backend.infer(
            { ...requestOf(job), modelVersion: choose() },
            {
              signal: Context.current().cancellationSignal,
              readResult: createResultReader(orm, job),
              waitMs: longestWaitMs(),
              isUnseen: true,
            },
          ),
        );
        return await record(jobId, modelVersion, error ? failedWith(error.code) : compared(job, result));
      } catch (error) {
        if (error instanceof NoCapacityError) return { ...handedBack(), isBusy: true };
        if (!(error instanceof ServiceError) || Context.current().cancellationSignal.aborted) throw error;
        if (!error.retryable || Context.current().info.attempt >= attempts)
          return record(jobId, modelVersion, failedWith(error.code));
        throw ApplicationFailure.create({ message: error.message, type: error.code, cause: error });
      }
    },
  };

  async function hasFiles({ inputs }: Job): Promise<boolean> {
    try {
      for (const { storageKey } of inputs) await store.size(storageKey);
      return true;
    } catch (error) {
      if (error instanceof ObjectNotFoundError) return false;
      throw new ServiceError('service_unavailable', 'The file store cannot be reached.', { cause: error });
    }
  }
}

export function createShadowRecordActivities(dependencies: RecordDependencies): ShadowRecordActivities {
  const record = recorder(dependencies);
  return {
    recordShadowFailure: ({ jobId, modelVersion, failure }) => record(jobId, modelVersion, failedWith(failure)),
  };
}

function recorder({ orm, onRecorded }: RecordDependencies) {
  return async (jobId: string, modelVersion: string, run: ShadowRun): Promise<ShadowEnd> => {
    const recorded = await throughOutages(() => recordShadowRun(orm.em.fork(), { jobId, modelVersion }, run));
    if (recorded.isNew) onRecorded?.(recorded);
    const { outcome, reason, agreed, differing } = recorded;
    return { outcome, reason, agreed, differing };
  };
}

const compared = ({ result }: Job, shadow: unknown): ShadowRun => ({
  outcome: 'compared',
  reason: null,
  ...compareResults(result, shadow),
});

const failedWith = (code: ErrorCode): ShadowRun => without(NOT_RUN.has(code) ? 'not_run' : 'failed', code);

const without = (outcome: ShadowRun['outcome'], reason: ShadowRun['reason'] = null): ShadowRun => ({
  outcome,
  reason,
  agreed: [],
  differing: {},
});
