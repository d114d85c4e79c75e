/** Temporal is killed, or cannot be reached, while customers continue. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, it } from 'vitest';
import { useProcesses } from '../support/processes.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { ROUNDS, rounds } from './rounds.ts';
import { expectToSurvive } from './survive.ts';

/** A minute where there is time for it. */
const awayMs = ROUNDS > 1 ? 60_000 : 3_000;

const processes = useProcesses();
let stack: FaultStack;

beforeAll(async () => {
  stack = await startFaultStack(processes);
}, 600_000);
afterAll(() => stack.close());

it.each(rounds)(
  'everything admitted ends and nothing starts twice where Temporal is killed in mid-job (round %i)',
  async () => {
    await expectToSurvive(stack, { awayMs }, async () => {
      await stack.temporal.kill();
      await sleep(1_000);
      await stack.temporal.start();
    });
  },
  600_000,
);

it.each(rounds)(
  'requests get 202 or a clean 503 while Temporal is unreachable, and the outbox drains (round %i)',
  async () => {
    await expectToSurvive(stack, { awayMs }, async () => {
      const proxies = Object.values(stack.parts).map(({ temporal }) => temporal);
      await Promise.all(proxies.map((proxy) => proxy.goAway()));
      await sleep(awayMs);
      await Promise.all(proxies.map((proxy) => proxy.comeBack()));
    });
  },
  600_000,
);
