/** Routes of the management API: every operation is checked, runs in one transaction and is audited. */
import type Router from '@koa/router';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { fingerprint } from '../../jobs/idempotency.ts';
import {
  claimIdempotencyKey,
  type IdempotencyKey,
  releaseIdempotencyKey,
  requestInProgress,
  type StoredResponse,
  storeResponse,
} from '../../jobs/idempotency-claims-store.ts';
import { recordAudit } from '../../organizations/audit-log-store.ts';
import { ensureOrganization } from '../../organizations/organizations-store.ts';
import { mayDo } from '../../organizations/roles.ts';
import type { SealedSecrets } from '../../platform/sealed-secrets.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext, ApiState } from '../context.ts';
import { readOptionalJsonBody } from '../requests/json-body.ts';
import { createQueryReader } from '../requests/query.ts';
import { readIdempotencyKey } from '../requests/request-options.ts';
import { compileValidator } from '../requests/validator.ts';
import { authenticateMember, type IdentityProvider } from './authenticate-member.ts';
import {
  type ManagementRequest,
  type ManagementServices,
  NO_PARAMETERS,
  type Operation,
  TextResponse,
} from './operation.ts';

export interface ManagementRouterDependencies {
  operations: readonly Operation[];
  identityProvider: IdentityProvider | null;
  services: ManagementServices;
  /** Counts a request of the organisation. @throws ServiceError `rate_limit_exceeded` */
  rateLimit: (context: ApiContext, organizationId: string) => Promise<void>;
  clock: () => Date;
  logger: Logger;
}

/** Longer than any operation; an older claim belongs to a request that died. */
const IN_PROGRESS_MS = 60_000;
/** Stored in a claim until the response is known. */
const NO_RESPONSE: StoredResponse = { status: 0, body: '' };

export function addManagementRoutes(router: Router<ApiState>, dependencies: ManagementRouterDependencies): void {
  for (const operation of dependencies.operations) {
    router[operation.method](operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), createRoute(operation, dependencies));
  }
}

function createRoute(operation: Operation, dependencies: ManagementRouterDependencies) {
  const { identityProvider, rateLimit, clock, logger, services } = dependencies;
  const readQuery = createQueryReader(operation.query ?? NO_PARAMETERS);
  const validateBody = compileValidator(operation.body ?? NO_PARAMETERS, 'json');
  const changes = operation.method !== 'get';

  return async (context: ApiContext): Promise<void> => {
    const now = clock();
    // Responses belong to one session, and some contain secrets.
    context.set('Cache-Control', 'no-store');
    const member = await authenticateMember(context.get('Authorization'), identityProvider, now);
    context.state.member = member;
    await rateLimit(context, member.organizationId);
    if (!mayDo(member.role, operation.permission)) {
      throw new ServiceError('role_not_permitted', `The role ${member.role} does not have "${operation.permission}".`);
    }
    const key = operation.method === 'post' ? readIdempotencyKey(context) : null;
    const query = readQuery(context);
    const body = changes ? await readOptionalJsonBody(context) : {};
    validateBody(body);

    const tasks: (() => Promise<void>)[] = [];
    const request: ManagementRequest = {
      em: context.state.em,
      services,
      member,
      parameters: { ...context.params },
      body,
      query,
      now,
      requestId: context.state.requestId,
      accept: context.get('Accept'),
      afterCommit: (task) => void tasks.push(task),
    };
    // Before the idempotency claim: a repeated request skips the change, and its user may have lost the role.
    await operation.authorize?.(request);
    if (!changes) {
      render(context, operation, await operation.handle(request, await operation.prepare?.(request)));
      return;
    }
    const { response, isReplay } =
      key === null
        ? { response: await change(operation, request), isReplay: false }
        : await changeOnce(operation, request, claimOf(operation, request, key));
    if (isReplay) context.set('Idempotent-Replayed', 'true');
    context.status = response.status;
    context.type = 'application/json';
    context.body = response.status === 204 ? null : response.body;
    for (const task of tasks) {
      await task().catch((err: unknown) => {
        logger.warn(
          { requestId: request.requestId, operation: operation.id, err },
          'task after commit failed; a sweeper repeats it',
        );
      });
    }
  };
}

/** Idempotency keys are per user, so that one user's secrets are never replayed to another. */
function claimOf(operation: Operation, { member, parameters }: ManagementRequest, key: string): IdempotencyKey {
  // Parameters identify the resource however the path is encoded. Management routes have no mode.
  const resource = fingerprint(parameters).toString('hex');
  const route = `${operation.id} ${resource} ${member.userId}`;
  return { organizationId: member.organizationId, livemode: true, route, key };
}

interface Changed {
  response: StoredResponse;
  isReplay: boolean;
}

/** Makes the change unless a request with the same key already has. */
async function changeOnce(operation: Operation, request: ManagementRequest, claim: IdempotencyKey): Promise<Changed> {
  const { em, now, body } = request;
  const { sealedSecrets } = request.services;
  const take = (em: EntityManager) =>
    claimIdempotencyKey(em, claim, fingerprint(body), NO_RESPONSE, new Date(now.getTime() + IN_PROGRESS_MS));
  const replayed = (stored: StoredResponse): Changed => ({
    response: opened(stored, operation, claim, sealedSecrets),
    isReplay: true,
  });
  if (!operation.prepare) {
    return transact(request, async (em) => {
      const stored = await take(em);
      if (stored) return replayed(stored);
      return { response: await changeIn(em, operation, request, undefined, claim), isReplay: false };
    });
  }
  // Claimed before external work, so that concurrent requests with the same key send nothing.
  const stored = await take(em);
  if (stored && stored.status !== NO_RESPONSE.status) return replayed(stored);
  try {
    return { response: await change(operation, request, claim), isReplay: false };
  } catch (error) {
    // A refused or failed change may be repeated. If the release fails, the claim expires in a minute.
    await releaseIdempotencyKey(em, claim).catch(() => {});
    throw error;
  }
}

async function change(
  operation: Operation,
  request: ManagementRequest,
  claim: IdempotencyKey | null = null,
): Promise<StoredResponse> {
  const prepared = await operation.prepare?.(request);
  return transact(request, (em) => changeIn(em, operation, request, prepared, claim));
}

/** Runs in a fresh entity manager: entities read before the transaction may be stale. */
function transact<Result>(
  { em, member }: ManagementRequest,
  work: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  return em.fork().transactional(async (em) => {
    await ensureOrganization(em, member.organizationId);
    return work(em);
  });
}

/** Change, audit entry and stored response commit together. */
async function changeIn(
  em: EntityManager,
  operation: Operation,
  request: ManagementRequest,
  prepared: unknown,
  claim: IdempotencyKey | null,
): Promise<StoredResponse> {
  const { member, now, parameters } = request;
  const resource = await operation.handle({ ...request, em }, prepared);
  await em.flush();
  const { id, ...otherParameters } = parameters;
  await recordAudit(em, {
    organizationId: member.organizationId,
    userId: member.userId,
    role: member.role,
    action: operation.id,
    targetId: id ?? idOf(resource) ?? member.organizationId,
    details: { ...otherParameters, ...(request.body as Record<string, unknown>) },
    requestId: request.requestId,
    createdAt: now,
  });
  const response = { status: statusOf(operation), body: JSON.stringify(resource ?? null) };
  if (claim && !(await storeResponse(em, claim, sealed(response, operation, claim, request.services.sealedSecrets)))) {
    // The claim expired and another request made the change. The next repetition gets its response.
    throw requestInProgress();
  }
  return response;
}

function sealed(
  response: StoredResponse,
  { showsSecret }: Operation,
  claim: IdempotencyKey,
  secrets: SealedSecrets,
): StoredResponse {
  return showsSecret ? { ...response, body: secrets.seal(response.body, purposeOf(claim)) } : response;
}

function opened(
  response: StoredResponse,
  { showsSecret }: Operation,
  claim: IdempotencyKey,
  secrets: SealedSecrets,
): StoredResponse {
  if (!showsSecret) return response;
  try {
    return { ...response, body: secrets.open(response.body, purposeOf(claim)) };
  } catch (error) {
    throw new ServiceError(
      'idempotency_key_reuse',
      'This Idempotency-Key was used, and its stored response cannot be decrypted: the key that sealed it was removed. ' +
        'The original request succeeded; use a new Idempotency-Key to request another secret.',
      { cause: error },
    );
  }
}

/** Binds the seal to its claim. Stored responses fix the text. */
const purposeOf = ({ organizationId, route, key }: IdempotencyKey) => `answer to ${organizationId} ${route} ${key}`;

function render(context: ApiContext, operation: Operation, response: unknown): void {
  context.status = statusOf(operation);
  if (response instanceof TextResponse) {
    context.type = response.mediaType;
    context.body = response.text;
  } else {
    context.body = response;
  }
}

export const statusOf = ({ status = 200 }: Operation) => status;

function idOf(resource: unknown): string | undefined {
  if (typeof resource !== 'object' || resource === null || !('id' in resource)) return undefined;
  return typeof resource.id === 'string' ? resource.id : undefined;
}
