/** Invariants that no measurement may break. */
import { findLedgerDrift } from '../src/credits/ledger-store.ts';
import { openDatabase } from '../src/database.ts';
import { query } from '../src/platform/database/orm.ts';

/** Checks the ledger for drift and, if jobs ran, that all succeeded. Returns the violations in words. */
export async function findBrokenInvariants(databaseUrl: string, expectedSucceeded: number | null): Promise<string[]> {
  const orm = await openDatabase({ url: databaseUrl, poolSize: 2 });
  try {
    const findings = await findLedgerDrift(orm.em.fork());
    if (expectedSucceeded === null) return findings;
    const statuses = await query<{ status: string; count: string }>(
      orm.em.fork(),
      'select status, count(*) from jobs group by status',
    );
    const lost = statuses.filter(({ status }) => status !== 'succeeded');
    const succeeded = Number(statuses.find(({ status }) => status === 'succeeded')?.count ?? 0);
    findings.push(...lost.map(({ status, count }) => `${count} jobs ended or stayed ${status}`));
    if (succeeded !== expectedSucceeded) findings.push(`${expectedSucceeded} jobs were posted, ${succeeded} succeeded`);
    return findings;
  } finally {
    await orm.close();
  }
}
