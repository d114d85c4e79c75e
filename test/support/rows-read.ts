/** How many rows PostgreSQL reads for a statement that the service sends. */

import pg from 'pg';
import { expect, vi } from 'vitest';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';

interface PlanNode {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

export interface SentStatements {
  /** Rows that the one statement with these texts read while `work` ran, found by running it again as it was sent. */
  rowsRead<Result>(work: () => Promise<Result>, texts: readonly string[]): Promise<{ result: Result; rows: number }>;
  stop(): void;
}

/** Call it before connections are made, which take the method along. */
export function watchStatements(ormOf: () => MikroORM): SentStatements {
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  return {
    async rowsRead(work, texts) {
      sent.mockClear();
      const result = await work();
      const statements = (sent.mock.calls as unknown[][]).flatMap(([first, second]) => {
        const { text, values = second } = typeof first === 'string' ? { text: first } : (first as pg.QueryConfig);
        return typeof text === 'string' && texts.every((part) => text.includes(part)) ? [{ text, values }] : [];
      });
      expect(statements).toHaveLength(1);
      const [{ text, values }] = statements as [{ text: string; values: unknown[] }];
      type Explained = { 'QUERY PLAN': [{ Plan: PlanNode }] };
      const [explained] = await query<Explained>(ormOf().em.fork(), `explain (analyze, format json) ${text}`, values);
      if (!explained) throw new Error('PostgreSQL explains every statement');
      return { result, rows: leavesOf(explained['QUERY PLAN'][0].Plan) };
    },
    stop: () => sent.mockRestore(),
  };
}

/** By the scans, at the leaves of a plan. */
function leavesOf({ Plans: below, ...node }: PlanNode): number {
  if (below) return below.reduce((sum, child) => sum + leavesOf(child), 0);
  return (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
}
