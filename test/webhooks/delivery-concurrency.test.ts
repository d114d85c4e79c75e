import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type ConcurrencyLimits,
  createDeliverySlots,
  type DeliverySlots,
  type SlotDecision,
  type SlotRequest,
} from '../../src/webhooks/delivery-concurrency.ts';

const LIMITS: ConcurrencyLimits = { endpoint: 4, organization: 6, failing: 2, exchangeMs: 10_000 };
const HOUR_MS = 3_600_000;

let nowMs: number;
let slots: DeliverySlots;

beforeEach(() => {
  nowMs = 1_790_000_000_000;
  slots = createDeliverySlots(LIMITS, () => new Date(nowMs));
});

const acquire = (changes: Partial<SlotRequest> = {}): SlotDecision =>
  slots.acquire({
    webhookEndpointId: 'whe_1',
    organizationId: 'org_1',
    isFailing: false,
    waits: 0,
    patienceMs: HOUR_MS,
    ...changes,
  });

function granted(slot: SlotDecision) {
  if (slot.kind !== 'granted') throw new Error(`expected a slot, not: ${slot.kind}`);
  return slot;
}
const turnOf = (slot: SlotDecision) => (slot.kind === 'waits' ? slot.waitMs : slot.kind);
const OK = { delivered: true, durationMs: 1_000 };
const HUNG = { delivered: false, durationMs: 10_000 };

describe('the limits of concurrent exchanges', () => {
  it('concurrent exchanges are limited for each endpoint, without delaying others', () => {
    for (let count = 0; count < LIMITS.endpoint; count += 1) granted(acquire());
    expect(acquire().kind).toBe('waits');
    granted(acquire({ webhookEndpointId: 'whe_2', organizationId: 'org_2' }));
  });

  it('concurrent exchanges are limited for all endpoints of an organisation, without delaying other organisations', () => {
    for (let count = 0; count < LIMITS.organization; count += 1)
      granted(acquire({ webhookEndpointId: `whe_${count}` }));
    expect(acquire({ webhookEndpointId: 'whe_9' }).kind).toBe('waits');
    granted(acquire({ webhookEndpointId: 'whe_10', organizationId: 'org_2' }));
  });

  it('concurrent exchanges are limited to one for a failing endpoint', () => {
    granted(acquire({ isFailing: true }));
    expect(acquire({ isFailing: true }).kind).toBe('waits');
  });

  it('concurrent exchanges are limited for all failing endpoints together, without delaying healthy ones', () => {
    const failing = (name: string) => ({ webhookEndpointId: name, organizationId: name, isFailing: true });
    for (let count = 0; count < LIMITS.failing; count += 1) granted(acquire(failing(`whe_f${count}`)));
    expect(acquire(failing('whe_f9')).kind).toBe('waits');
    granted(acquire());
  });
});

it('a released slot is free again', () => {
  const held = Array.from({ length: LIMITS.endpoint }, () => granted(acquire()));
  held[0]?.release(OK);
  granted(acquire());
  expect(acquire().kind).toBe('waits');
});

describe('turns', () => {
  it('turns are spaced at the pace of the endpoint', () => {
    for (let count = 0; count < LIMITS.endpoint; count += 1) granted(acquire());
    const turns = Array.from({ length: 6 }, () => turnOf(acquire()));
    expect(turns).toEqual([2_500, 5_000, 7_500, 10_000, 12_500, 15_000]);
  });

  it('turns are far apart for a hanging endpoint', () => {
    const [first] = [granted(acquire()), granted(acquire())];
    first?.release(HUNG);
    const turns = Array.from({ length: 3 }, () => turnOf(acquire({ isFailing: true })));
    expect(turns).toEqual([10_000, 20_000, 30_000]);
  });

  it('turns are close together, one by one, for an endpoint that fails fast', () => {
    const [first] = [granted(acquire()), granted(acquire())];
    first?.release({ delivered: false, durationMs: 200 });
    const turns = Array.from({ length: 3 }, () => turnOf(acquire({ isFailing: true })));
    expect(turns).toEqual([200, 400, 600]);
  });

  it('turns go before newcomers, who do not take a free slot from them', () => {
    const held = Array.from({ length: LIMITS.endpoint }, () => granted(acquire()));
    // Its pace must be known.
    held.pop()?.release(OK);
    granted(acquire());
    expect(turnOf(acquire())).toBe(250);
    for (const slot of held) slot.release(OK);
    expect(acquire().kind).toBe('waits');
    nowMs += 250;
    granted(acquire({ waits: 1 }));
  });

  it('turns are void once a failing endpoint recovers', () => {
    const probe = granted(acquire({ isFailing: true }));
    for (let count = 0; count < 100; count += 1) acquire({ isFailing: true });
    probe.release({ delivered: true, durationMs: 20 });
    const kinds = Array.from({ length: LIMITS.endpoint }, () => acquire().kind);
    expect(new Set(kinds)).toEqual(new Set(['granted']));
  });

  it('turns are void after the first success of a new endpoint', () => {
    const slot = granted(acquire());
    for (let count = 1; count < LIMITS.endpoint + 10; count += 1) acquire();
    expect(acquire().kind).toBe('waits');
    slot.release(OK);
    expect(acquire().kind).toBe('granted');
  });

  it('turns later than the patience are refused and do not lengthen the queue', () => {
    for (let count = 0; count < LIMITS.endpoint; count += 1) granted(acquire());
    for (let count = 0; count < 1_000; count += 1) acquire({ patienceMs: 10_000 });
    expect(acquire({ patienceMs: 10_000 })).toEqual({ kind: 'refused' });
    expect(turnOf(acquire())).toBe(12_500);
  });
});

describe('a full organisation', () => {
  const fillOrganization = () =>
    Array.from({ length: LIMITS.organization }, (_, index) =>
      granted(acquire({ webhookEndpointId: `whe_h${index % 2}` })),
    );

  beforeEach(() => {
    granted(acquire()).release({ delivered: true, durationMs: 20 });
  });

  it('a delivery behind a full organisation waits at the pace of the organisation, not of its own endpoint', () => {
    const held = Array.from({ length: LIMITS.organization }, (_, index) =>
      granted(acquire({ webhookEndpointId: `whe_h${index}` })),
    );
    held.pop()?.release(HUNG);
    granted(acquire({ webhookEndpointId: 'whe_h9' }));
    const turns = Array.from({ length: 3 }, () => turnOf(acquire()));
    // The average of 20 ms and 10 s, weighted, over six slots; the endpoint alone would give 5 ms each.
    expect(turns).toEqual([503, 1_005, 1_507]);
  });

  it('a delivery behind a full organisation waits at most 70 times within an hour, and is then refused', () => {
    fillOrganization();
    const startMs = nowMs;
    let waits = 0;
    for (;;) {
      const patienceMs = HOUR_MS - (nowMs - startMs);
      const slot = acquire({ waits, patienceMs });
      if (slot.kind !== 'waits') {
        expect(slot.kind).toBe('refused');
        break;
      }
      waits += 1;
      nowMs += slot.waitMs;
    }
    expect(nowMs - startMs).toBeGreaterThan(HOUR_MS - 120_000);
    expect(waits).toBeLessThanOrEqual(70);
  });

  it('the queue of a full organisation is void once half of its slots are free', () => {
    const held = fillOrganization();
    for (let count = 0; count < 1_000; count += 1) acquire();
    expect(acquire().kind).toBe('waits');
    for (const slot of held.slice(0, 4)) slot.release(HUNG);
    expect(acquire().kind).toBe('granted');
  });
});

it('no sequence of requests for slots exceeds a limit, and every slot is free in the end', () => {
  const step = fc.record({
    endpoint: fc.nat(5),
    isFailing: fc.boolean(),
    waits: fc.nat(1),
    leaves: fc.boolean(),
    passesMs: fc.nat(2_000),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const own = createDeliverySlots(LIMITS, () => new Date(nowMs));
      const inside: { endpoint: number; isFailing: boolean; release: () => void }[] = [];
      for (const { endpoint, isFailing, waits, leaves, passesMs } of steps) {
        nowMs += passesMs;
        if (leaves) inside.shift()?.release();
        const organization = endpoint % 2;
        const slot = own.acquire({
          webhookEndpointId: `whe_${endpoint}`,
          organizationId: `org_${organization}`,
          isFailing,
          waits,
          patienceMs: HOUR_MS,
        });
        if (slot.kind === 'granted') inside.push({ endpoint, isFailing, release: () => slot.release(OK) });
        const count = (fits: (one: (typeof inside)[0]) => boolean) => inside.filter(fits).length;
        expect(count((one) => one.endpoint === endpoint)).toBeLessThanOrEqual(LIMITS.endpoint);
        expect(count((one) => one.endpoint % 2 === organization)).toBeLessThanOrEqual(LIMITS.organization);
        expect(count((one) => one.isFailing)).toBeLessThanOrEqual(LIMITS.failing);
      }
      for (const { release } of inside) release();
      for (let index = 0; index < LIMITS.organization; index += 1) {
        nowMs += HOUR_MS * 24;
        const slot = own.acquire({
          webhookEndpointId: `whe_${index}`,
          organizationId: 'org_0',
          isFailing: index < LIMITS.failing,
          waits: 0,
          patienceMs: 0,
        });
        expect(slot.kind).toBe('granted');
      }
    }),
  );
});
