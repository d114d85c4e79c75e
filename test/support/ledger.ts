import { expect } from 'vitest';
import { findLedgerDrift } from '../../src/credits/ledger-store.ts';
import { openDatabase } from '../../src/database.ts';

/** I1 and I2 of the goals: every balance equals its replay, and every job moved its credits once. */
export async function expectLedgerToBalance(databaseUrl: string): Promise<void> {
  const orm = await openDatabase({ url: databaseUrl, poolSize: 1 });
  try {
    expect(await findLedgerDrift(orm.em.fork())).toEqual([]);
  } finally {
    await orm.close();
  }
}
