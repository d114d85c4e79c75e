/**
 * Limits how many exchanges one worker runs at once: with an endpoint, with an organisation, and with all failing
 * endpoints. A delivery that finds no free slot waits its turn outside the worker (ADR 0017), so a receiver that hangs
 * delays its own deliveries only.
 */
import { RESPONSE_TIMEOUT_MS } from './response-rules.ts';

export interface ConcurrencyLimits {
  /** Exchanges with one endpoint. A failing endpoint gets a single slot: its deliveries probe it one by one. */
  endpoint: number;
  /** Exchanges with all endpoints of an organisation. */
  organization: number;
  /** Exchanges with all failing endpoints; the remaining slots of the worker are reserved for healthy ones. */
  failing: number;
  /** The longest an exchange can take; the estimate for an endpoint until its first exchange has ended. */
  exchangeMs: number;
}

/** Whatever one endpoint, one organisation or all failing endpoints do, healthy endpoints still find a slot. */
export const CONCURRENCY_LIMITS: ConcurrencyLimits = {
  endpoint: 20,
  organization: 50,
  failing: 100,
  exchangeMs: RESPONSE_TIMEOUT_MS,
};

export interface SlotRequest {
  webhookEndpointId: string;
  organizationId: string;
  /** Whether the endpoint's latest attempt failed. */
  isFailing: boolean;
  /** How often this attempt has waited for its turn. One that has waited goes before newcomers. */
  waits: number;
  /** How much longer this attempt may wait. */
  patienceMs: number;
}

export type SlotDecision =
  | { kind: 'granted'; release(exchange: { delivered: boolean; durationMs: number } | null): void }
  | { kind: 'waits'; waitMs: number }
  /** The queue is longer than the request's patience. */
  | { kind: 'refused' };

export interface DeliverySlots {
  /** Takes a slot, which must be released, or says when one should be free. */
  acquire(request: SlotRequest): SlotDecision;
}

/** The load of one scope that has a limit: an endpoint, an organisation, or all failing endpoints. */
interface Load {
  inFlight: number;
  /** Moving average of the durations of its exchanges; null before the first has ended. */
  recentMs: number | null;
  /** The last turn handed out. Until then newcomers queue behind it. */
  lastTurnAtMs: number;
}

/** Beyond this many endpoints or organisations, idle ones are forgotten. */
const REMEMBERED = 10_000;
/** Coming back sooner would cost more than it gains. */
const SHORTEST_WAIT_MS = 100;
/** Each wait of an attempt lasts at least twice as long as the one before, up to this. Bounds the waits of an hour to 70. */
const LONGEST_BACKOFF_MS = 60_000;
/** Weight of the latest exchange in `recentMs`. */
const LATEST_WEIGHT = 0.3;

export function createDeliverySlots(limits: ConcurrencyLimits, clock: () => Date = () => new Date()): DeliverySlots {
  const endpoints = createLoads();
  const organizations = createLoads();
  const failing = newLoad();

  return {
    acquire({ webhookEndpointId, organizationId, isFailing, waits, patienceMs }) {
      const nowMs = clock().getTime();
      const endpoint = { load: endpoints.of(webhookEndpointId), limit: isFailing ? 1 : limits.endpoint };
      const shared = [
        { load: organizations.of(organizationId), limit: limits.organization },
        ...(isFailing ? [{ load: failing, limit: limits.failing }] : []),
      ];
      for (const { load, limit } of shared) {
        // A queue before a scope that is half empty is left over from a load that has gone.
        if (load.inFlight < limit / 2) load.lastTurnAtMs = 0;
      }
      const scopes = [endpoint, ...shared];
      const [blocking] = scopes
        .filter(({ load, limit }) => load.inFlight >= limit || (waits === 0 && load.lastTurnAtMs > nowMs))
        .map(({ load, limit }) => ({ load, turnAtMs: nextTurnAtMs(load, limit, nowMs) }))
        .sort((one, other) => other.turnAtMs - one.turnAtMs);
      if (blocking !== undefined) {
        const waitMs = Math.ceil(Math.max(blocking.turnAtMs - nowMs, shortestWaitMs(waits)));
        if (waitMs > patienceMs) return { kind: 'refused' };
        // Only the queue that this attempt really waits in grows.
        blocking.load.lastTurnAtMs = blocking.turnAtMs;
        return { kind: 'waits', waitMs };
      }

      for (const { load } of scopes) load.inFlight += 1;
      return {
        kind: 'granted',
        release(exchange) {
          for (const { load } of scopes) load.inFlight -= 1;
          if (exchange === null) return;
          const isOpened = exchange.delivered && (isFailing || endpoint.load.recentMs === null);
          for (const { load } of scopes) learn(load, exchange.durationMs);
          if (isOpened) {
            // The queue assumed the worst case; the endpoint responds, so newcomers need not stand in it.
            endpoint.load.recentMs = exchange.durationMs;
            endpoint.load.lastTurnAtMs = 0;
          }
        },
      };
    },
  };

  function nextTurnAtMs(load: Load, limit: number, nowMs: number): number {
    return Math.max(load.lastTurnAtMs, nowMs) + (load.recentMs ?? limits.exchangeMs) / limit;
  }
}

const newLoad = (): Load => ({ inFlight: 0, recentMs: null, lastTurnAtMs: 0 });

function createLoads(): { of(name: string): Load } {
  const loads = new Map<string, Load>();
  return {
    of(name) {
      const known = loads.get(name);
      if (known) return known;
      if (loads.size >= REMEMBERED) {
        const [idle] = loads.entries().find(([, { inFlight }]) => inFlight === 0) ?? [];
        if (idle !== undefined) loads.delete(idle);
      }
      const load = newLoad();
      loads.set(name, load);
      return load;
    },
  };
}

function shortestWaitMs(waits: number): number {
  return Math.min(SHORTEST_WAIT_MS * 2 ** waits, LONGEST_BACKOFF_MS);
}

function learn(load: Load, durationMs: number): void {
  const beforeMs = load.recentMs ?? durationMs;
  load.recentMs = beforeMs + (durationMs - beforeMs) * LATEST_WEIGHT;
}
