/** Options of an inference request besides its body. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { IDEMPOTENCY_KEY_LENGTH } from '../../jobs/idempotency.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext } from '../context.ts';

const SHORTEST_EXPIRY_MS = 5_000;

/** Hours, minutes and seconds. */
export const CANCEL_AFTER = /^(?:(\d{1,2})h)?(?:(\d{1,4})m)?(?:(\d{1,6})s?)?$/;

const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
]);

function readFlag(context: ApiContext, name: 'wait' | 'dry_run'): boolean {
  const given = context.query[name];
  if (given === undefined) return false;
  const flag = typeof given === 'string' ? BOOLEANS.get(given) : undefined;
  if (flag === undefined) {
    throw new ServiceError('parameter_invalid', `"${name}" must be true or false, and be sent once.`, { param: name });
  }
  return flag;
}

const QUERY_PARAMETERS = ['wait', 'dry_run'];

/** Refuses unknown query parameters: a misspelt `dry_run` must not cost credits. */
export function refuseUnknownQuery(context: ApiContext, known: readonly string[] = QUERY_PARAMETERS): void {
  const unknown = Object.keys(context.query).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new ServiceError('parameter_unknown', `"${unknown}" is not a query parameter of this path. Remove it.`, {
    param: unknown,
  });
}

/** Whether the request is validated and priced only. */
export function readDryRun(context: ApiContext): boolean {
  return readFlag(context, 'dry_run');
}

/**
 * How long to hold the connection, or null to respond at once: `?wait=true`, or the preference `Prefer: wait=<seconds>`
 * (RFC 7240), which is capped at the ceiling and ignored where waiting is not supported. A bare `wait` asks for the ceiling.
 */
export function readWaitMs(context: ApiContext, endpoint: EndpointContract, ceilingMs: number): number | null {
  if (context.query.wait !== undefined) return isWaitAsked(context, endpoint) ? ceilingMs : null;
  const preferredMs = readPreferredWaitMs(context.get('Prefer'));
  if (preferredMs === null || !endpoint.acceptsWait) return null;
  const waitMs = Math.min(preferredMs, ceilingMs);
  context.set('Preference-Applied', `wait=${Math.ceil(waitMs / 1000)}`);
  return waitMs;
}

/** The first `wait` preference counts; `wait` as a parameter of another preference does not. */
function readPreferredWaitMs(prefer: string): number | null {
  for (const preference of prefer.split(',')) {
    const wait = /^\s*wait\s*(?:=\s*(?:(\d+)|"(\d+)")\s*)?(?:;|$)/i.exec(preference);
    if (wait) return Number(wait[1] ?? wait[2] ?? Number.POSITIVE_INFINITY) * 1000;
  }
  return null;
}

function isWaitAsked(context: ApiContext, endpoint: EndpointContract): boolean {
  if (!endpoint.acceptsWait) {
    throw new ServiceError(
      'wait_not_supported',
      `${endpoint.slug} does not support "wait". Omit it and poll the job, or use a webhook.`,
      { param: 'wait' },
    );
  }
  return readFlag(context, 'wait');
}

/** How long the job may stay queued: the endpoint's limit, or the shorter `Cancel-After`. */
export function readExpiryMs(context: ApiContext, endpoint: EndpointContract): number {
  if (context.headers['cancel-after'] === undefined) return endpoint.expiryMs;
  const given = context.get('Cancel-After');
  const [, hours = '0', minutes = '0', seconds = '0'] = CANCEL_AFTER.exec(given) ?? [];
  const requestedMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  if (requestedMs < SHORTEST_EXPIRY_MS) {
    throw new ServiceError(
      'parameter_invalid',
      'Cancel-After must be a duration such as 30s, 5m or 1h30m, and at least 5s.',
      {
        param: 'Cancel-After',
      },
    );
  }
  if (requestedMs > endpoint.expiryMs) {
    throw new ServiceError(
      'parameter_invalid',
      `Cancel-After may be at most ${endpoint.expiryMs / 1000}s for ${endpoint.slug}.`,
      { param: 'Cancel-After' },
    );
  }
  return requestedMs;
}

/** The scenario of a test-mode request; null for live keys. */
export function readTestScenario(context: ApiContext, endpoint: EndpointContract): string | null {
  if (context.state.apiKey.livemode || context.headers['x-service-test-scenario'] === undefined) return null;
  const scenario = context.get('X-Service-Test-Scenario');
  if (!Object.hasOwn(endpoint.scenarios, scenario)) {
    throw new ServiceError(
      'test_scenario_not_supported',
      `${endpoint.slug} does not support this test scenario. It supports ${Object.keys(endpoint.scenarios).join(', ')}.`,
      { param: 'X-Service-Test-Scenario' },
    );
  }
  return scenario;
}

export function readIdempotencyKey(context: ApiContext): string | null {
  const key = context.headers['idempotency-key'];
  if (key === undefined) return null;
  const { minimum, maximum } = IDEMPOTENCY_KEY_LENGTH;
  if (typeof key !== 'string' || key.length < minimum || key.length > maximum) {
    throw new ServiceError(
      'idempotency_key_invalid',
      `Idempotency-Key must have ${minimum} to ${maximum} characters.`,
      {
        param: 'Idempotency-Key',
      },
    );
  }
  return key;
}
