/** Whether an attempt on a worker without the model is left to another worker. */

import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInferenceActivities } from '../../src/activities/inference-activities.ts';
import type { InferenceBackend } from '../../src/contracts/inference-backend.ts';
import { openDatabase } from '../../src/database.ts';
import { NoCapacityError } from '../../src/inference/runtime/no-capacity-error.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { ServiceError } from '../../src/platform/service-error.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, readJob } from '../support/jobs.ts';

const [DEFAULT, PINNED] = ['model-of-tests@2026-02-01', 'model-of-tests@2026-01-01'];

let database: TestDatabase;
let orm: MikroORM;
let customer: Customer;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 2 });
  customer = await createCustomer(orm);
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(async () => {
  await query(orm.em.fork(), 'delete from installed_endpoints');
  await query(orm.em.fork(), 'delete from installed_builds');
});

interface Attempt {
  announced?: readonly string[];
  livemode?: boolean;
  pinned?: string | null;
  attempt?: number;
  mayPassOn?: boolean;
  error?: Error;
}

const lacking = new ServiceError('model_unavailable', 'No model is installed for dashboard.read.');

async function attempt({
  announced = [],
  livemode = true,
  pinned = null,
  attempt = 1,
  mayPassOn = true,
  error = lacking,
}: Attempt) {
  const [modelVersion, ...otherVersions] = announced;
  if (modelVersion) {
    const installed = [{ endpoint: 'dashboard.read', modelVersion, otherVersions }];
    await announceInstalledEndpoints(orm.em.fork(), installed, []);
  }
  const apiKeyId = customer.keyIds[livemode ? 'live' : 'test'];
  const jobId = await admit(orm, customer, { livemode, apiKeyId, pinnedModelVersion: pinned });
  const backend = {
    modelVersion: () => {
      throw error;
    },
    infer: () => Promise.reject(new Error('no model runs here')),
    close: async () => {},
  };
  const activities = createInferenceActivities({ orm, backend });
  const environment = new MockActivityEnvironment({ attempt }, { logger: new DefaultLogger('ERROR') });
  const answer = await environment
    .run(() => activities.runInference({ jobId, attempts: 3, settles: true, mayPassOn }))
    .catch((thrown: { type: string }) => thrown.type);
  return { answer, status: (await readJob(orm, jobId)).status };
}

const left = (usedAttempts: number) => ({
  answer: { kind: 'handed_back', isPassedOn: true, usedAttempts },
  status: 'queued',
});
const tried = { answer: 'model_unavailable', status: 'queued' };

describe('a worker without the model', () => {
  it('a worker without the model hands the job back unchanged, with its attempts, when another one announces it', async () => {
    expect(await attempt({ announced: [DEFAULT] })).toEqual(left(0));
    expect(await attempt({ announced: [DEFAULT], attempt: 3 })).toEqual(left(2));
  });

  it('a worker without the model does not hand the job back when no worker announces the endpoint', async () => {
    expect(await attempt({})).toEqual(tried);
  });

  it('a job that pins a build is handed back only if that build is announced', async () => {
    expect(await attempt({ announced: [DEFAULT], pinned: PINNED })).toEqual(tried);
    expect(await attempt({ announced: [DEFAULT, PINNED], pinned: PINNED })).toEqual(left(0));
  });

  it('a job is not handed back to a workflow of an earlier release, which does not understand it', async () => {
    expect(await attempt({ announced: [DEFAULT], mayPassOn: false })).toEqual(tried);
  });

  it('a job is not handed back in test mode: every worker has the fixtures', async () => {
    expect(await attempt({ announced: [DEFAULT], livemode: false })).toEqual(tried);
  });

  it('a job is not handed back after any other failure', async () => {
    const error = new ServiceError('service_unavailable', 'The file store cannot be reached.');
    expect(await attempt({ announced: [DEFAULT], error })).toEqual({ ...tried, answer: 'service_unavailable' });
  });
});

it('a permanently refused build that no worker announces fails its job at once', async () => {
  const error = new ServiceError('model_unavailable', 'It cannot be run.', { isForGood: true });
  expect(await attempt({ announced: [DEFAULT], pinned: PINNED, error })).toEqual({ ...tried, answer: 'staged' });
});

describe('a job without a free process', () => {
  const onBusyWorker = async (mayPassOn: boolean) => {
    const jobId = await admit(orm, customer, { livemode: true, apiKeyId: customer.keyIds.live });
    const waits: (number | undefined)[] = [];
    const backend: InferenceBackend = {
      modelVersion: () => DEFAULT ?? '',
      infer: (_, { waitMs }) => {
        waits.push(waitMs);
        return Promise.reject(waitMs === undefined ? lacking : new NoCapacityError(waitMs));
      },
      close: async () => {},
    };
    const activities = createInferenceActivities({ orm, backend });
    const environment = new MockActivityEnvironment({ attempt: 2, startToCloseTimeoutMs: 60_000 });
    const answer = await environment
      .run(() => activities.runInference({ jobId, attempts: 3, settles: true, mayPassOn }))
      .catch((thrown: { type: string }) => thrown.type);
    return { answer, waits, status: (await readJob(orm, jobId)).status };
  };

  it('a job without a free process is handed back after a quarter of an attempt’s time, and the attempt does not count', async () => {
    const answer = { kind: 'handed_back', isPassedOn: true, usedAttempts: 1, isBusy: true };
    expect(await onBusyWorker(true)).toEqual({ answer, waits: [15_000], status: 'processing' });
  });

  it('a job without a free process waits for the whole attempt when its workflow is of an earlier release', async () => {
    expect(await onBusyWorker(false)).toEqual({
      answer: 'model_unavailable',
      waits: [undefined],
      status: 'processing',
    });
  });
});
