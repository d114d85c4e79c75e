import { Connection } from '@temporalio/client';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { requiredVariable } from './environment.ts';
import { createTestNamespace } from './temporal.ts';

describe('a test database', () => {
  let first: TestDatabase;
  let second: TestDatabase;

  beforeAll(async () => {
    [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  });
  afterAll(async () => {
    await Promise.all([first.drop(), second.drop()]);
  });

  it('a test database is migrated', async () => {
    const tables = await query(first.url, `select 1 from information_schema.tables where table_schema = 'public'`);
    expect(tables.length).toBeGreaterThan(0);
  });

  it('a test database is invisible to another', async () => {
    await query(first.url, 'create table only_here (id int)');
    await expect(query(second.url, 'select * from only_here')).rejects.toMatchObject({ code: '42P01' });
  });

  it('a test database is gone once dropped, even with open connections', async () => {
    const third = await createTestDatabase();
    const client = new pg.Client({ connectionString: third.url });
    client.on('error', () => {});
    await client.connect();
    await third.drop();
    const name = new URL(third.url).pathname.slice(1);
    const rows = await query(requiredVariable('TEST_DATABASE_ADMIN_URL'), `select datname from pg_database`);
    expect(rows.map((row) => row.datname)).not.toContain(name);
    await client.end().catch(() => {});
  });
});

describe('a test namespace', () => {
  it('a test namespace has the search attributes of jobs and starts workflows at once', async () => {
    const { address, namespace } = await createTestNamespace();
    const connection = await Connection.connect({ address });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(customAttributes).toSorted()).toEqual([
      'JobEndpoint',
      'JobStatus',
      'Livemode',
      'OrganizationId',
      'ShadowDiffers',
      'ShadowOutcome',
    ]);
    const { runId } = await connection.workflowService.startWorkflowExecution({
      namespace,
      workflowId: 'any',
      workflowType: { name: 'any' },
      taskQueue: { name: 'any' },
      requestId: 'any',
    });
    expect(runId).toBeTruthy();
    await connection.close();
  });
});

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
