import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createEndpointLanes,
  type EndpointLanes,
  type LaneLimits,
  type LanePlace,
  type LaneRequest,
} from '../../src/delivery/endpoint-lanes.ts';

const LIMITS: LaneLimits = { endpoint: 4, organization: 6, failing: 2, exchangeMs: 10_000 };
const HOUR_MS = 3_600_000;

let nowMs: number;
let lanes: EndpointLanes;

beforeEach(() => {
  nowMs = 1_790_000_000_000;
  lanes = createEndpointLanes(LIMITS, () => new Date(nowMs));
});

const enter = (changes: Partial<LaneRequest> = {}): LanePlace =>
  lanes.enter({
    webhookEndpointId: 'whe_1',
    organizationId: 'org_1',
    isFailing: false,
    hasWaited: false,
    patienceMs: HOUR_MS,
    ...changes,
  });

function admitted(place: LanePlace) {
  if (place.kind !== 'admitted') throw new Error(`expected a place, not: ${place.kind}`);
  return place;
}
const turnOf = (place: LanePlace) => (place.kind === 'waits' ? place.turnInMs : place.kind);
const OK = { delivered: true, durationMs: 1_000 };
const HUNG = { delivered: false, durationMs: 10_000 };

describe('at once there are at most', () => {
  it('so many exchanges with one endpoint, and others are not held up', () => {
    for (let count = 0; count < LIMITS.endpoint; count += 1) admitted(enter());
    expect(enter().kind).toBe('waits');
    admitted(enter({ webhookEndpointId: 'whe_2', organizationId: 'org_2' }));
  });

  it('so many with all endpoints of an organisation, and other organisations are not held up', () => {
    for (let count = 0; count < LIMITS.organization; count += 1) admitted(enter({ webhookEndpointId: `whe_${count}` }));
    expect(enter({ webhookEndpointId: 'whe_9' }).kind).toBe('waits');
    admitted(enter({ webhookEndpointId: 'whe_10', organizationId: 'org_2' }));
  });

  it('one with an endpoint that fails', () => {
    admitted(enter({ isFailing: true }));
    expect(enter({ isFailing: true }).kind).toBe('waits');
  });

  it('so many with all failing endpoints, and those that answer are not held up', () => {
    const failing = (name: string) => ({ webhookEndpointId: name, organizationId: name, isFailing: true });
    for (let count = 0; count < LIMITS.failing; count += 1) admitted(enter(failing(`whe_f${count}`)));
    expect(enter(failing('whe_f9')).kind).toBe('waits');
    admitted(enter());
  });
});

it('a place that is left is free again', () => {
  const places = Array.from({ length: LIMITS.endpoint }, () => admitted(enter()));
  places[0]?.leave(OK);
  admitted(enter());
  expect(enter().kind).toBe('waits');
});

describe('turns', () => {
  it('come one after the other, as fast as the endpoint works its deliveries off', () => {
    for (let count = 0; count < LIMITS.endpoint; count += 1) admitted(enter());
    const turns = Array.from({ length: 6 }, () => turnOf(enter()));
    expect(turns).toEqual([2_500, 5_000, 7_500, 10_000, 12_500, 15_000]);
  });

  it('are far apart for an endpoint that hangs', () => {
    const [first] = [admitted(enter()), admitted(enter())];
    first?.leave(HUNG);
    const turns = Array.from({ length: 3 }, () => turnOf(enter({ isFailing: true })));
    expect(turns).toEqual([10_000, 20_000, 30_000]);
  });

  it('are soon, and one by one, for an endpoint that fails fast', () => {
    const [first] = [admitted(enter()), admitted(enter())];
    first?.leave({ delivered: false, durationMs: 200 });
    const turns = Array.from({ length: 3 }, () => turnOf(enter({ isFailing: true })));
    expect(turns).toEqual([200, 400, 600]);
  });

  it('go before those who come new: a free place is not taken from under them', () => {
    const places = Array.from({ length: LIMITS.endpoint }, () => admitted(enter()));
    // So that its pace is known.
    places.pop()?.leave(OK);
    admitted(enter());
    expect(turnOf(enter())).toBe(250);
    for (const place of places) place.leave(OK);
    expect(enter().kind).toBe('waits');
    nowMs += 250;
    admitted(enter({ hasWaited: true }));
  });

  it('end with the trouble: an endpoint that answers again is open to everybody', () => {
    const probe = admitted(enter({ isFailing: true }));
    for (let count = 0; count < 100; count += 1) enter({ isFailing: true });
    probe.leave({ delivered: true, durationMs: 20 });
    const kinds = Array.from({ length: LIMITS.endpoint }, () => enter().kind);
    expect(new Set(kinds)).toEqual(new Set(['admitted']));
  });

  it('end with the first success of an endpoint that was not met before', () => {
    const place = admitted(enter());
    for (let count = 1; count < LIMITS.endpoint + 10; count += 1) enter();
    expect(enter().kind).toBe('waits');
    place.leave(OK);
    expect(enter().kind).toBe('admitted');
  });

  it('further off than the patience are not given, and lengthen the line for nobody', () => {
    for (let count = 0; count < LIMITS.endpoint; count += 1) admitted(enter());
    for (let count = 0; count < 1_000; count += 1) enter({ patienceMs: 10_000 });
    expect(enter({ patienceMs: 10_000 })).toEqual({ kind: 'refused' });
    expect(turnOf(enter())).toBe(12_500);
  });
});

it('whatever comes and goes, no limit is passed, and in the end every place is free', () => {
  const step = fc.record({
    endpoint: fc.nat(5),
    isFailing: fc.boolean(),
    hasWaited: fc.boolean(),
    leaves: fc.boolean(),
    passesMs: fc.nat(2_000),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const own = createEndpointLanes(LIMITS, () => new Date(nowMs));
      const inside: { endpoint: number; isFailing: boolean; leave: () => void }[] = [];
      for (const { endpoint, isFailing, hasWaited, leaves, passesMs } of steps) {
        nowMs += passesMs;
        if (leaves) inside.shift()?.leave();
        const organization = endpoint % 2;
        const place = own.enter({
          webhookEndpointId: `whe_${endpoint}`,
          organizationId: `org_${organization}`,
          isFailing,
          hasWaited,
          patienceMs: HOUR_MS,
        });
        if (place.kind === 'admitted') inside.push({ endpoint, isFailing, leave: () => place.leave(OK) });
        const count = (fits: (one: (typeof inside)[0]) => boolean) => inside.filter(fits).length;
        expect(count((one) => one.endpoint === endpoint)).toBeLessThanOrEqual(LIMITS.endpoint);
        expect(count((one) => one.endpoint % 2 === organization)).toBeLessThanOrEqual(LIMITS.organization);
        expect(count((one) => one.isFailing)).toBeLessThanOrEqual(LIMITS.failing);
      }
      for (const { leave } of inside) leave();
      for (let index = 0; index < LIMITS.organization; index += 1) {
        nowMs += HOUR_MS * 24;
        const place = own.enter({
          webhookEndpointId: `whe_${index}`,
          organizationId: 'org_0',
          isFailing: index < LIMITS.failing,
          hasWaited: false,
          patienceMs: 0,
        });
        expect(place.kind).toBe('admitted');
      }
    }),
  );
});
