/**
 * How many exchanges of one worker may be under way at once: with an endpoint, with an organisation, and with endpoints
 * that fail. Whoever finds no place waits its turn outside the worker (ADR 0017), so that a receiver which hangs holds
 * its own deliveries and nobody else's.
 */

export interface LaneLimits {
  /** Exchanges with one endpoint at once. One that fails gets a single one: its deliveries probe it in turn. */
  endpoint: number;
  /** Exchanges with all endpoints of an organisation at once. */
  organization: number;
  /** Exchanges with all failing endpoints at once: the places beyond are for those that answer. */
  failing: number;
  /** What an exchange takes at most, and is taken to take with an endpoint until one has ended. */
  exchangeMs: number;
}

export interface LaneRequest {
  webhookEndpointId: string;
  organizationId: string;
  /** Whether the endpoint's latest attempt failed. */
  isFailing: boolean;
  /** Whether this attempt has waited for its turn before: then those who come new are behind it. */
  hasWaited: boolean;
  /** A turn that is further off than this is none. */
  patienceMs: number;
}

export type LanePlace =
  | { kind: 'admitted'; leave(exchange: { delivered: boolean; durationMs: number } | null): void }
  | { kind: 'waits'; turnInMs: number }
  /** The line is longer than the request's patience. */
  | { kind: 'refused' };

export interface EndpointLanes {
  /** Takes a place, which must be left, or says when one should be free. */
  enter(request: LaneRequest): LanePlace;
}

interface Lane {
  underWay: number;
  /** How long exchanges with the endpoint take of late; null before the first has ended. */
  recentMs: number | null;
  /** The last turn that was given away. Before then, who comes new goes behind it. */
  lastTurnAtMs: number;
}

/** Lanes of more endpoints than this are forgotten when they are empty. */
const REMEMBERED = 10_000;
/** A sooner return would cost more than it gains. */
const SHORTEST_WAIT_MS = 100;
/** Weight of the latest exchange in `recentMs`. */
const LATEST_WEIGHT = 0.3;

export function createEndpointLanes(limits: LaneLimits, clock: () => Date = () => new Date()): EndpointLanes {
  const lanes = new Map<string, Lane>();
  const underWayByOrganization = new Map<string, number>();
  let failingUnderWay = 0;

  return {
    enter({ webhookEndpointId, organizationId, isFailing, hasWaited, patienceMs }) {
      const nowMs = clock().getTime();
      const lane = lanes.get(webhookEndpointId) ?? { underWay: 0, recentMs: null, lastTurnAtMs: 0 };
      const width = isFailing ? 1 : limits.endpoint;
      const ofOrganization = underWayByOrganization.get(organizationId) ?? 0;
      const hasRoom =
        lane.underWay < width &&
        ofOrganization < limits.organization &&
        (!isFailing || failingUnderWay < limits.failing);
      lanes.set(webhookEndpointId, lane);

      if (!hasRoom || (!hasWaited && lane.lastTurnAtMs > nowMs)) {
        const exchangeMs = lane.recentMs ?? limits.exchangeMs;
        const turnAtMs = Math.max(lane.lastTurnAtMs, nowMs) + exchangeMs / width;
        if (turnAtMs - nowMs > patienceMs) return { kind: 'refused' };
        lane.lastTurnAtMs = turnAtMs;
        return { kind: 'waits', turnInMs: Math.ceil(Math.max(turnAtMs - nowMs, SHORTEST_WAIT_MS)) };
      }

      lane.underWay += 1;
      underWayByOrganization.set(organizationId, ofOrganization + 1);
      if (isFailing) failingUnderWay += 1;
      return {
        kind: 'admitted',
        leave(exchange) {
          lane.underWay -= 1;
          const left = (underWayByOrganization.get(organizationId) ?? 0) - 1;
          if (left > 0) underWayByOrganization.set(organizationId, left);
          else underWayByOrganization.delete(organizationId);
          if (isFailing) failingUnderWay -= 1;
          if (exchange !== null) learn(lane, exchange, isFailing);
          if (lanes.size > REMEMBERED && lane.underWay === 0) lanes.delete(webhookEndpointId);
        },
      };
    },
  };
}

function learn(lane: Lane, { delivered, durationMs }: { delivered: boolean; durationMs: number }, wasFailing: boolean) {
  if (delivered && (wasFailing || lane.recentMs === null)) {
    // It answers: its line was made for the worst, and those who come new need not stand in it.
    lane.recentMs = durationMs;
    lane.lastTurnAtMs = 0;
  } else {
    const beforeMs = lane.recentMs ?? durationMs;
    lane.recentMs = beforeMs + (durationMs - beforeMs) * LATEST_WEIGHT;
  }
}
