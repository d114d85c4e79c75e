/** Jobs whose whole pipeline runs in another cluster: hand them over, and take them back. */
import { CompleteAsyncError, Context } from '@temporalio/activity';
import type { DispatchActivities } from '../contracts/dispatch.ts';
import { beginDispatch, supersedeDispatches } from '../db/jobs/dispatches.ts';
import { pickUpJob } from '../db/jobs/job-progress.ts';
import { readJob } from '../db/jobs/read-job.ts';
import type { MikroORM } from '../db/orm.ts';
import { newId } from '../domain/ids.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { Dispatcher } from '../inference/remote/dispatcher.ts';
import { addLogFields } from '../observability/log-context.ts';
import { heartbeating } from './heartbeat.ts';
import { buildFor, failOrRetry } from './inference-activities.ts';
import { requestOf } from './inference-request.ts';
import { passOn } from './pass-on.ts';
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
        const passedOn = await passOn(em, { job, modelVersion: job.modelVersion, mayPassOn }, choose);
        if (passedOn) return passedOn;
        const modelVersion = choose();
        const pickUp = await throughOutages(() => pickUpJob(em, jobId, modelVersion, clock()));
        if (!pickUp) return 'abandoned';
        const id = newId('dispatch');
        // Recorded before it is sent: the first callback may come before the cluster's answer.
        const begun = await beginDispatch(em, { id, jobId, attempt, taskToken });
        if (!begun) return 'staged';
        await heartbeating(() =>
          Promise.all([
            dispatcher.send(requestOf(job), { id, attempt }, cancellationSignal),
            dispatcher.withdraw(job.endpoint, begun.supersededIds),
          ]),
        );
      } catch (error) {
        return await failOrRetry(em, jobId, error, attempt >= attempts);
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
  // Such as on a worker that was configured before the one that picked the job up.
  if (modelVersion === null) throw new ServiceError('model_unavailable', `No cluster is configured for ${endpoint}.`);
  return modelVersion;
}
