/** Harness for workflow tests: a database, a Temporal namespace, and an orchestration worker between them. */
import type { Client } from '@temporalio/client';
import { openDatabase } from '../../src/database.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { openTemporalClient } from '../../src/platform/temporal/connect.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { expectLedgerToBalance } from './ledger.ts';
import { createTestNamespace, type TestNamespace } from './temporal.ts';
import { orchestrationWorker, startTestWorkers, type TestWorkers } from './workers.ts';

export interface WorkflowHarness {
  database: TestDatabase;
  orm: MikroORM;
  namespace: TestNamespace;
  client: Client;
  /** A test may replace it. */
  orchestration: TestWorkers;
}

/** Pass it to `closeWorkflowHarness` in `afterAll`. */
export async function openWorkflowHarness(): Promise<WorkflowHarness> {
  const [database, namespace] = await Promise.all([createTestDatabase(), createTestNamespace()]);
  const orm = await openDatabase({ url: database.url, poolSize: 10 });
  const client = openTemporalClient(namespace);
  const orchestration = await startTestWorkers(namespace, [await orchestrationWorker(orm)]);
  return { database, orm, namespace, client, orchestration };
}

/** Also checks the invariants of the ledger after all tests. */
export async function closeWorkflowHarness({ database, orm, client, orchestration }: WorkflowHarness): Promise<void> {
  await orchestration.stop();
  await client.connection.close();
  await expectLedgerToBalance(database.url);
  await orm.close();
  await database.drop();
}
