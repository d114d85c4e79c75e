/** The sweeper finds every pending delivery that may have no workflow. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { type MikroORM, query } from '../../src/platform/database/orm.ts';
import { endDelivery } from '../../src/webhooks/delivery-records-store.ts';
import { findStrandedDeliveries, markDeliveryStarted, recordNextAttempt } from '../../src/webhooks/outbox-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createDelivery, createEndpoint, createOwner, type Owner } from './delivery-fixture.ts';

const MINUTE_MS = 60_000;

let database: TestDatabase;
let orm: MikroORM;
let owner: Owner;
let endpointId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 2 });
  owner = await createOwner(orm);
  endpointId = await createEndpoint(orm, owner);
});
afterAll(async () => {
  await orm.close();
  await database.drop();
});

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * MINUTE_MS);

async function isFound(deliveryId: string, now: Date, committedBefore = new Date(0)): Promise<boolean> {
  const found = await findStrandedDeliveries(orm.em.fork(), { committedBefore, now });
  return found.some(({ id }) => id === deliveryId);
}

const startedDelivery = async () => {
  const { deliveryId } = await createDelivery(orm, owner, endpointId);
  await markDeliveryStarted(orm.em.fork(), deliveryId);
  return deliveryId;
};

it('a delivery without a started workflow is found once its commit is old enough', async () => {
  const { deliveryId } = await createDelivery(orm, owner, endpointId);
  expect(await isFound(deliveryId, new Date(), inMinutes(-1))).toBe(false);
  expect(await isFound(deliveryId, new Date(), inMinutes(1))).toBe(true);
});

describe('a delivery with a started workflow', () => {
  it('a started delivery is found ten minutes after its start when it makes no attempt', async () => {
    const deliveryId = await startedDelivery();
    expect(await isFound(deliveryId, inMinutes(9))).toBe(false);
    expect(await isFound(deliveryId, inMinutes(11))).toBe(true);
  });

  it('a started delivery is found ten minutes after its next attempt was due', async () => {
    const deliveryId = await startedDelivery();
    await recordNextAttempt(orm.em.fork(), deliveryId, inMinutes(600));
    expect(await isFound(deliveryId, inMinutes(609))).toBe(false);
    expect(await isFound(deliveryId, inMinutes(611))).toBe(true);
  });

  it('a started delivery is found with the attempts it has made', async () => {
    const deliveryId = await startedDelivery();
    await query(
      orm.em.fork(),
      `insert into webhook_attempts (delivery_id, attempt, attempted_at, duration_ms, status_code)
       values ($1, 1, '2026-12-01T00:00:00.250Z', 5, 500), ($1, 3, '2026-12-01T01:00:00Z', 5, 500)`,
      [deliveryId],
    );
    const found = await findStrandedDeliveries(orm.em.fork(), { committedBefore: new Date(0), now: inMinutes(11) });
    expect(found.find(({ id }) => id === deliveryId)).toEqual({
      id: deliveryId,
      organizationId: owner.organizationId,
      livemode: true,
      isTest: false,
      made: { latest: 3, sent: 2, firstAttemptAtMs: Date.parse('2026-12-01T00:00:00.250Z') },
    });
  });

  it('a started delivery is not found once it has ended', async () => {
    const deliveryId = await startedDelivery();
    await endDelivery(orm.em.fork(), deliveryId, 'failed', new Date());
    expect(await isFound(deliveryId, inMinutes(11))).toBe(false);
  });
});
