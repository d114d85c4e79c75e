/** What tests of workflows stand on: a database, a namespace of Temporal, and the orchestration worker between them. */
import type { Client } from '@temporalio/client';
import { type MikroORM, openDatabase } from '../../src/db/orm.ts';
import { openTemporalClient } from '../../src/temporal/connect.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { expectLedgerToBalance } from './ledger.ts';
import { createTestNamespace, type TestNamespace } from './temporal.ts';
import { orchestrationWorker, startTestWorkers, type TestWorkers } from './workers.ts';

export interface WorkflowStand {
  database: TestDatabase;
  orm: MikroORM;
  namespace: TestNamespace;
  client: Client;
  /** A test may put another in its place. */
  orchestration: TestWorkers;
}

/** Give it to `closeWorkflowStand` in `afterAll`. */
export async function openWorkflowStand(): Promise<WorkflowStand> {
  const [database, namespace] = await Promise.all([createTestDatabase(), createTestNamespace()]);
  const orm = await openDatabase({ url: database.url, poolSize: 10 });
  const client = openTemporalClient(namespace);
  const orchestration = await startTestWorkers(namespace, [await orchestrationWorker(orm)]);
  return { database, orm, namespace, client, orchestration };
}

/** Also holds the ledger to its invariants, whatever the tests did. */
export async function closeWorkflowStand({ database, orm, client, orchestration }: WorkflowStand): Promise<void> {
  await orchestration.stop();
  await client.connection.close();
  await expectLedgerToBalance(database.url);
  await orm.close();
  await database.drop();
}
