/** The history shards of Temporal's production server move between two processes of its history service, which are killed in turn. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HISTORY_SHARDS } from '../../scripts/temporal-server.ts';
import { describeWith } from '../support/needs.ts';
import { useProcesses } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { type FaultStack, type History, startFaultStack } from './fault-stack.ts';
import { rounds } from './rounds.ts';
import { expectToSurvive } from './survive.ts';

/** The other process misses the killed one after some ten seconds. */
const AWAY_MS = 20_000;
/** A time-out means a hang. */
const PATIENCE_MS = 240_000;

const processes = useProcesses();
let stack: FaultStack;

describeWith('temporalServer', 'the production server of Temporal', () => {
  beforeAll(async () => {
    stack = await startFaultStack(processes, undefined, { historyProcesses: 2 });
  }, 600_000);
  afterAll(() => stack.close());

  const ownsAll = (history: History) =>
    until(async () => (await history.countShards()) === HISTORY_SHARDS, PATIENCE_MS);

  it.each(rounds)(
    'everything admitted ends and nothing starts twice where every shard moves after kill -9 in mid-job (round %i)',
    async () => {
      const [one, other] = stack.temporal.histories as [History, History];
      await expectToSurvive(stack, { awayMs: AWAY_MS }, async () => {
        expect((await one.countShards()) + (await other.countShards())).toBe(HISTORY_SHARDS);
        await one.kill();
        await ownsAll(other);
        await one.start();
        await other.kill();
        await ownsAll(one);
        await other.start();
      });
    },
    600_000,
  );
});
