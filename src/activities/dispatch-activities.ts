/** Dispatches jobs whose whole pipeline runs in another cluster, and withdraws them. */
import { CompleteAsyncError, Context } from '@temporalio/activity';
import type { DispatchActivities } from '../contracts/dispatch.ts';
import type { Dispatcher } from '../inference/remote/dispatcher.ts';
import { beginDispatch, supersedeDispatches } from '../jobs/dispatches-store.ts';
import { readJob } from '../jobs/jobs-store.ts';
import { pickUpJob } from '../jobs/pick-up-store.ts';
import { buildFor } from '../jobs/pinned-build.ts';
import type { MikroORM } from '../platform/database/orm.ts';
import { newId } from '../platform/ids.ts';
import { addLogFields } from '../platform/logging/log-context.ts';
import { ServiceError } from '../platform/service-error.ts';
import { failOrRetry } from './fail-or-retry.ts';
import { handBack } from './hand-back.ts';
import { heartbeating } from './heartbeat.ts';
import { requestOf } from './inference-request.ts';
import { throughOutages } from './through-outages.ts';

interface Dependencies {
  orm: MikroORM;
  dispatcher: Dispatcher;
  clock?: () => Date;
}

export function createDispatchActivities({
  orm,
  dispatcher,
  clock = () => new Date(),
}: Dependencies): DispatchActivities {
  return {
    async dispatchInference({ jobId, attempts, mayPassOn = false }) {
      const em = orm.em.fork();
      const { info, cancellationSignal } = Context.current();
      const { attempt, taskToken } = info;
      try {
        const job = await throughOutages(() => readJob(em, jobId));
        addLogFields({ requestId: job.requestId });
        const choose = () => buildFor(job, configuredBuild(dispatcher, job.endpoint));
        const handedBack = await handBack(em, { job, modelVersion: job.modelVersion, mayPassOn }, choose);
        if (handedBack) return handedBack;
        const modelVersion = choose();
        const pickUp = await throughOutages(() => pickUpJob(em, jobId, modelVersion, clock()));
        if (!pickUp) return 'abandoned';
        const id = newId('dispatch');
        // Recorded before it is sent: the first callback may arrive before the cluster's response.
        const begun = await beginDispatch(em, { id, jobId, attempt, taskToken });
        if (!begun) return 'staged';
        await heartbeating(() =>
          Promise.all([
            dispatcher.send(requestOf(job), { id, attempt }, cancellationSignal),
            dispatcher.withdraw(job.endpoint, begun.supersededIds),
          ]),
        );
      } catch (error) {
        await failOrRetry(em, jobId, error, attempt >= attempts);
        return 'staged';
      }
      throw new CompleteAsyncError();
    },

    async withdrawDispatches({ jobId }) {
      const em = orm.em.fork();
      const { endpoint } = await readJob(em, jobId);
      await dispatcher.withdraw(endpoint, await supersedeDispatches(em, jobId));
    },
  };
}

function configuredBuild(dispatcher: Dispatcher, endpoint: string): string {
  const modelVersion = dispatcher.modelVersion(endpoint);
  // Another worker, configured later, picked the job up.
  if (modelVersion === null) throw new ServiceError('model_unavailable', `No cluster is configured for ${endpoint}.`);
  return modelVersion;
}
