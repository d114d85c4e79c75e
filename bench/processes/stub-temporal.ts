/** Stands in for `src/temporal/connect.ts`: what an admission uses of a client. */
import type { openTemporalClient as real } from '../../src/temporal/connect.ts';

export const openTemporalClient = () =>
  ({
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
    workflow: { start: async () => ({}) },
    connection: { close: async () => {} },
  }) as unknown as ReturnType<typeof real>;
