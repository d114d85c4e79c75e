/**
 * Several processes of each kind, replaced one after another as a deploy does. `PGBOUNCER=<program>`, from 1.21 on, puts
 * PgBouncer in transaction mode between them and PostgreSQL, and kills it, too.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findFreePort } from '../../src/embedded/ports.ts';
import { query } from '../../src/platform/database/orm.ts';
import { describeWith } from '../support/needs.ts';
import { useProcesses } from '../support/processes.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { startTcpBalancer } from '../support/tcp-balancer.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { startAgain } from './kill-plan.ts';
import { MixedLoad } from './mixed-load.ts';
import { expectPromisesKept, failOneInSeven } from './promises.ts';

const COUNTS = { api: 3, orchestration: 3, inference: 4, webhooks: 2 };
const pgBouncer = process.env.PGBOUNCER;
const processes = useProcesses();
let stack: FaultStack;

it('the load balancer passes over a process that does not listen', async () => {
  const server = createServer((_, response) => response.end('here'));
  server.listen(await findFreePort(), '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const balancer = await startTcpBalancer([await findFreePort(), port]);
  const answers = [1, 2, 3].map(async () => (await fetch(`http://127.0.0.1:${balancer.port}`)).text());
  expect(await Promise.all(answers)).toEqual(['here', 'here', 'here']);
  await balancer.close();
  server.close();
});

describeWith('rounds', 'twelve processes', () => {
  beforeAll(async () => {
    stack = await startFaultStack(processes, undefined, { counts: COUNTS, pgBouncer });
  }, 600_000);
  afterAll(() => stack.close());

  it(
    `twelve processes ${pgBouncer ? 'behind PgBouncer, which is killed, ' : ''}are each replaced in turn under ` +
      'mixed load: every acknowledged job ends and is charged once, every repetition gets the same bytes, every event arrives',
    async () => {
      const acknowledged = failOneInSeven(stack);
      const load = new MixedLoad(stack, new SeededRandom(1));
      try {
        for (const part of stack.replicas) {
          await part.stop();
          await startAgain(part);
        }
        await stack.pooler?.kill();
        await stack.pooler?.start();
      } finally {
        await load.stop();
      }
      await expectPromisesKept(stack, load, acknowledged);
      await report(load);
    },
    30 * 60_000,
  );
});

async function report({ record: { submissions, lost, refusals, repeats } }: MixedLoad): Promise<void> {
  const em = stack.orm.em.fork();
  const ended = await query(em, 'select status, count(*)::int as jobs from jobs group by status order by status');
  const asked = submissions.length;
  console.info(
    JSON.stringify({ counts: COUNTS, pgBouncer, asked, ended, lost, refusals: Object.fromEntries(refusals), repeats }),
  );
}
