import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { deleteExpiredIdempotencyClaims } from '../../src/jobs/idempotency-claims-store.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let orm: MikroORM;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 5 });
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});
beforeEach(() => query(orm.em.fork(), 'delete from idempotency_claims'));

async function insertClaims({ expired, open = 0 }: { expired: number; open?: number }): Promise<void> {
  const { organizationId } = await createCustomer(orm);
  await query(
    orm.em.fork(),
    `insert into idempotency_claims
       (organization_id, livemode, route, key, fingerprint, response_status, response_body, expires_at)
     select $1, false, 'dashboard.read', 'key-' || number, '', 202, '{}',
       now() + case when number <= $2::integer then -1 else 1 end * interval '1 hour'
     from generate_series(1, $2::integer + $3::integer) as number`,
    [organizationId, expired, open],
  );
}

async function leftClaims(): Promise<number> {
  const [row] = await query<{ count: number }>(
    orm.em.fork(),
    'select count(*)::integer as count from idempotency_claims',
  );
  return row?.count ?? 0;
}

describe('expired claims', () => {
  it('expired claims are deleted in batches, and claims that hold stay', async () => {
    await insertClaims({ expired: 1_500, open: 10 });
    const batches = [
      await deleteExpiredIdempotencyClaims(orm.em.fork()),
      await deleteExpiredIdempotencyClaims(orm.em.fork()),
    ];
    expect(batches).toEqual([
      { rows: 1_000, hasMore: true },
      { rows: 500, hasMore: false },
    ]);
    expect(await leftClaims()).toBe(10);
  });

  it('expired claims that a request is taking over are skipped, not waited for', async () => {
    await insertClaims({ expired: 20 });
    await orm.em.fork().transactional(async (em) => {
      await query(em, `select from idempotency_claims where key = 'key-7' for update`);
      expect(await deleteExpiredIdempotencyClaims(orm.em.fork())).toEqual({ rows: 19, hasMore: false });
    });
    expect(await leftClaims()).toBe(1);
  });

  it('expired claims are shared by replicas that delete at the same time', async () => {
    await insertClaims({ expired: 2_000 });
    const batches = await Promise.all([0, 1].map(() => deleteExpiredIdempotencyClaims(orm.em.fork())));
    expect(batches.map(({ rows }) => rows)).toEqual([1_000, 1_000]);
  });
});
