/** The gauges of the backlog are true, or absent when unknown. */

import type { Client } from '@temporalio/client';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { endpointBySlug } from '../../src/endpoints/list.ts';
import { startRunJob } from '../../src/jobs/job-starter.ts';
import { observeBacklog } from '../../src/observability/backlog.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { openTemporalClient } from '../../src/platform/temporal/connect.ts';
import { type Customer, createCustomer, createWebhookEndpoint } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { admit, finishJob, readJob } from '../support/jobs.ts';
import { createTestNamespace } from '../support/temporal.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
let orm: MikroORM;
let address: string;
let temporal: Client;
let customer: Customer;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 5 });
  const namespace = await createTestNamespace();
  ({ address } = namespace);
  temporal = openTemporalClient(namespace);
  customer = await createCustomer(orm, { test: 1_000 });
  await createWebhookEndpoint(orm, customer.organizationId);
});
afterAll(async () => {
  await temporal.connection.close();
  await orm.close();
  await database.drop();
});

/** Name with labels → value, of this service's own gauges. */
function scrapes(changes: Partial<Parameters<typeof observeBacklog>[0]> = {}) {
  const registry = new Registry();
  observeBacklog({ registry, orm, temporal, logger: { warn: () => {} }, cacheMs: 0, ...changes });
  return async () => {
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('vehicle_inference_'));
    return new Map(
      lines.map((line) => {
        const [, name = '', value] = /^vehicle_inference_(.*) (\S+)$/.exec(line) ?? [];
        return [name, Number(value)];
      }),
    );
  };
}

it('the backlog counts open jobs, holds, the outbox and deliveries, with the age of the oldest', async () => {
  const minuteAgo = new Date(Date.now() - 60_000);
  await admit(orm, customer, { createdAt: minuteAgo, dueAt: minuteAgo });
  await admit(orm, customer);
  const ended = await admit(orm, customer);
  await finishJob(orm, ended);

  const gauges = await scrapes()();
  const queued = '{endpoint="dashboard.read",mode="test",status="queued"}';
  expect(Object.fromEntries(gauges)).toMatchObject({
    [`open_jobs${queued}`]: 2,
    overdue_jobs: 1,
    'outbox_unstarted{kind="job"}': 2,
    'outbox_unstarted{kind="delivery"}': 1,
    'ledger_holds{mode="test"}': 2,
    'ledger_held_credits{mode="test"}': 40,
    webhook_deliveries_pending: 1,
    webhook_endpoints_disabled: 0,
    'backlog_readable{store="postgresql"}': 1,
  });
  expect(gauges.get(`oldest_open_job_seconds${queued}`)).toBeGreaterThanOrEqual(60);
  expect(gauges.get('outbox_oldest_seconds{kind="job"}')).toBeGreaterThanOrEqual(60);
  expect(gauges.get('webhook_oldest_pending_seconds')).toBeLessThan(60);
});

it('a task queue that nobody polls shows its tasks and no poller', async () => {
  const id = await admit(orm, customer);
  await startRunJob(temporal, await readJob(orm, id), endpointBySlug('dashboard.read'));
  const scrape = scrapes();
  const labels = '{task_queue="orchestration",task_type="workflow"}';
  await until(async () => ((await scrape()).get(`task_queue_backlog${labels}`) ?? 0) >= 1);
  expect((await scrape()).get(`task_queue_pollers${labels}`)).toBe(0);
});

it('the backlog omits what it cannot read, so that it does not look like an empty queue', async () => {
  const away = openTemporalClient({ address, namespace: 'that-does-not-exist' });
  const gauges = await scrapes({ temporal: away })();
  await away.connection.close();
  expect(gauges.get('backlog_readable{store="temporal"}')).toBe(0);
  expect(gauges.get('backlog_readable{store="postgresql"}')).toBe(1);
  expect([...gauges.keys()].filter((name) => name.startsWith('task_queue_'))).toEqual([]);
  expect([...gauges.keys()].filter((name) => name.startsWith('open_jobs'))).not.toEqual([]);
});

it('scrapes in quick succession cost one reading', async () => {
  const scrape = scrapes({ cacheMs: 60_000 });
  const before = (await scrape()).get('ledger_holds{mode="test"}');
  await admit(orm, customer);
  expect((await scrape()).get('ledger_holds{mode="test"}')).toBe(before);
});
