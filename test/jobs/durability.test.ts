/** PostgreSQL is killed with -9 under load: whatever was acknowledged is still there, whole. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { type PostgresServer, preparePostgres } from '../../src/embedded/postgres.ts';
import type { RunningProgram } from '../../src/embedded/program.ts';
import { admitJob } from '../../src/jobs/admission-store.ts';
import { settleJob } from '../../src/jobs/settlement-store.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { type Customer, createCustomer, readAccount } from '../support/customers.ts';
import { admission } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { until } from '../support/until.ts';

// Each test makes a PostgreSQL of its own that waits for the disk, however slow that is.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const LANES = 8;
/** Acknowledgements before the kill: enough for several flushes, and for a few to be under way at any moment. */
const BEFORE_THE_KILL = 60;

let directory: string;
let server: PostgresServer;
let program: RunningProgram;
let orm: MikroORM;
let customer: Customer;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'durability-'));
  server = await preparePostgres({
    dataDirectory: join(directory, 'postgres'),
    port: await findFreePort(),
    logPath: join(directory, 'postgres.log'),
    database: 'service',
  });
  program = await server.start();
  await migrate(server.databaseUrl);
  orm = await openDatabase({ url: server.databaseUrl, poolSize: LANES });
  customer = await createCustomer(orm, { test: 1_000_000 });
});
afterEach(async () => {
  await orm.close();
  await program.stop();
  rmSync(directory, { recursive: true, force: true });
});

const admitOne = async (): Promise<string> => {
  const admitted = admission(customer, { openJobsLimit: 1_000_000 });
  await admitJob(orm.em.fork(), admitted);
  return admitted.job.id;
};

/** Works until the server is gone; returns everything acknowledged by then. */
async function acknowledgedBeforeKill(work: () => Promise<string>): Promise<string[]> {
  const acknowledged: string[] = [];
  const lane = async () => {
    for (;;) {
      acknowledged.push(await work());
      if (acknowledged.length === BEFORE_THE_KILL) process.kill(program.pid, 'SIGKILL');
    }
  };
  await Promise.allSettled(Array.from({ length: LANES }, lane));
  await until(() =>
    server.start().then(
      (restarted) => {
        program = restarted;
        return true;
      },
      () => false,
    ),
  );
  return acknowledged;
}

describe('a kill of PostgreSQL', () => {
  it('every acknowledged admission survives a kill of PostgreSQL, with its hold', async () => {
    const acknowledged = await acknowledgedBeforeKill(admitOne);
    expect(acknowledged.length).toBeGreaterThanOrEqual(BEFORE_THE_KILL);
    const rows = await query<{ id: string }>(
      orm.em.fork(),
      `select jobs.id from jobs join credit_transfers on job_id = jobs.id and kind = 'hold' where jobs.id = any ($1)`,
      [acknowledged],
    );
    expect(rows).toHaveLength(acknowledged.length);
    await expectLedgerToBalance(server.databaseUrl);
  });

  it('every acknowledged settlement survives a kill of PostgreSQL, charged once', async () => {
    const open = await Promise.all(Array.from({ length: 4 * BEFORE_THE_KILL }, admitOne));
    const acknowledged = await acknowledgedBeforeKill(async () => {
      const jobId = open.pop();
      if (jobId === undefined) throw new Error('no job is left to settle');
      await settleJob(orm.em.fork(), {
        jobId,
        from: ['queued'],
        to: 'succeeded',
        result: {},
        error: null,
        stages: null,
        chargedCredits: 20,
        completedAt: new Date(),
        event: null,
        deliveries: [],
      });
      return jobId;
    });
    expect(acknowledged.length).toBeGreaterThanOrEqual(BEFORE_THE_KILL);
    const rows = await query<{ id: string }>(
      orm.em.fork(),
      `select id from jobs where id = any ($1) and status = 'succeeded' and charged_credits = 20`,
      [acknowledged],
    );
    expect(rows).toHaveLength(acknowledged.length);
    await expectLedgerToBalance(server.databaseUrl);
    const { held, openJobs } = await readAccount(orm, customer.organizationId, false);
    expect(held).toBe(openJobs * 20);
  });
});
