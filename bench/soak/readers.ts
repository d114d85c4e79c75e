/** Customers who only read: they poll jobs, and look at lists, usage, statements and the ledger. */
import { setTimeout as delay } from 'node:timers/promises';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import type { SoakStack } from './stack.ts';

const READERS = 2;
const LONGEST_PAUSE_MS = 4_000;
const LISTS = ['/v1/jobs', '/v1/jobs?status=failed', '/v1/events', '/v1/endpoints'];
const OF_MEMBERS = [
  '/mgmt/v1/usage',
  '/mgmt/v1/usage?group_by=endpoint',
  '/mgmt/v1/statements',
  '/mgmt/v1/credits',
  '/mgmt/v1/credits/ledger',
  '/mgmt/v1/jobs',
];

export interface Readers {
  /** Responses that no reader may get, in words. */
  readonly surprises: readonly string[];
  stop(): Promise<void>;
}

export function startReaders(stack: SoakStack, onAnswer: (durationMs: number) => void): Readers {
  const over = new AbortController();
  const surprises: string[] = [];
  const get = async (path: string, token: string): Promise<unknown> => {
    const sentAtMs = performance.now();
    try {
      const response = await fetch(stack.apiUrl + path, { headers: { Authorization: `Bearer ${token}` } });
      const text = await response.text();
      onAnswer(performance.now() - sentAtMs);
      if (response.status === 200) return JSON.parse(text);
      surprises.push(`GET ${path}: ${response.status} ${text}`);
    } catch (error) {
      surprises.push(`GET ${path}: ${String(error)}`);
    }
    return null;
  };
  const read = async (random: SeededRandom): Promise<void> => {
    const key = stack.seed.keys[random.pick(['live', 'test'] as const)];
    const list = (await get(random.pick(LISTS), key)) as { data: { id?: string; object?: string }[] } | null;
    const job = list?.data.find(({ object }) => object === 'job');
    if (job) await get(`/v1/jobs/${job.id}`, key);
    const deliveries = `/mgmt/v1/webhook-endpoints/${random.pick(stack.webhookEndpointIds)}/deliveries`;
    await get(random.pick([...OF_MEMBERS, deliveries]), await stack.memberToken());
  };
  const readers = Array.from({ length: READERS }, async (_, index) => {
    const random = new SeededRandom(index);
    while (!over.signal.aborted) {
      await read(random);
      await delay(random.below(LONGEST_PAUSE_MS), undefined, { signal: over.signal }).catch(() => {});
    }
  });
  return {
    surprises,
    async stop() {
      over.abort();
      await Promise.all(readers);
    },
  };
}
