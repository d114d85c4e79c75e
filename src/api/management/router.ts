/** Routes of the management API: each operation is checked, run in one transaction and recorded, in the same way. */
import type Router from '@koa/router';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import {
  claimIdempotencyKey,
  type IdempotencyKey,
  releaseIdempotencyKey,
  requestInProgress,
  type StoredResponse,
  storeResponse,
} from '../../db/idempotency.ts';
import { recordAudit } from '../../db/organizations/audit-log.ts';
import { ensureOrganization } from '../../db/organizations/organizations.ts';
import { fingerprint } from '../../domain/idempotency.ts';
import { mayDo } from '../../domain/roles.ts';
import type { SealedSecrets } from '../../domain/sealed-secrets.ts';
import { ServiceError } from '../../domain/service-error.ts';
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
  TextAnswer,
} from './operation.ts';

export interface ManagementRouterDependencies {
  operations: readonly Operation[];
  identityProvider: IdentityProvider | null;
  services: ManagementServices;
  /** Counts a request of the organisation, and refuses one too many. */
  rateLimit: (context: ApiContext, organizationId: string) => Promise<void>;
  clock: () => Date;
  logger: Logger;
}

/** Longer than any operation takes; a claim that is older belongs to a request that died. */
const IN_PROGRESS_MS = 60_000;
/** What a claim holds until there is an answer. */
const NO_ANSWER: StoredResponse = { status: 0, body: '' };

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
    // What is shown here concerns one person's session, and some of it is shown once.
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
    // Here, and not in the change, which a repeated request is answered without: its user may have lost the role.
    await operation.authorize?.(request);
    if (!changes) {
      render(context, operation, await operation.handle(request, await operation.prepare?.(request)));
      return;
    }
    const { answer, isReplay } =
      key === null
        ? { answer: await change(operation, request), isReplay: false }
        : await changeOnce(operation, request, claimOf(operation, request, key));
    if (isReplay) context.set('Idempotent-Replayed', 'true');
    context.status = answer.status;
    context.type = 'application/json';
    context.body = answer.status === 204 ? null : answer.body;
    for (const task of tasks) {
      await task().catch((err: unknown) => {
        logger.warn({ requestId: request.requestId, operation: operation.id, err }, 'left to be made up for');
      });
    }
  };
}

/** A key is its user's own: what one user was shown, such as a new secret, is not answered to another. */
function claimOf(operation: Operation, { member, parameters }: ManagementRequest, key: string): IdempotencyKey {
  // The parameters tell two resources apart, however the path is spelt; the mode is no part of the address here.
  const resource = fingerprint(parameters).toString('hex');
  const route = `${operation.id} ${resource} ${member.userId}`;
  return { organizationId: member.organizationId, livemode: true, route, key };
}

interface Changed {
  answer: StoredResponse;
  isReplay: boolean;
}

/** Does it unless a request with the key did. */
async function changeOnce(operation: Operation, request: ManagementRequest, claim: IdempotencyKey): Promise<Changed> {
  const { em, now, body } = request;
  const { sealedSecrets } = request.services;
  const take = (em: EntityManager) =>
    claimIdempotencyKey(em, claim, fingerprint(body), NO_ANSWER, new Date(now.getTime() + IN_PROGRESS_MS));
  const replayed = (stored: StoredResponse): Changed => ({
    answer: opened(stored, operation, claim, sealedSecrets),
    isReplay: true,
  });
  if (!operation.prepare) {
    return transact(request, async (em) => {
      const stored = await take(em);
      if (stored) return replayed(stored);
      return { answer: await changeIn(em, operation, request, undefined, claim), isReplay: false };
    });
  }
  // The key is taken before anything leaves the process: others with it wait, and send nothing of their own.
  const stored = await take(em);
  if (stored && stored.status !== NO_ANSWER.status) return replayed(stored);
  try {
    return { answer: await change(operation, request, claim), isReplay: false };
  } catch (error) {
    // Whatever was refused or broke may be tried again. Where the key cannot be freed now, it is free in a minute.
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

/** What was read before the transaction may have changed: it begins without any of it. */
function transact<Result>(
  { em, member }: ManagementRequest,
  work: (em: EntityManager) => Promise<Result>,
): Promise<Result> {
  return em.fork().transactional(async (em) => {
    await ensureOrganization(em, member.organizationId);
    return work(em);
  });
}

/** Change, audit entry and stored answer are one transaction: all of it happened, or nothing. */
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
  const answer = { status: statusOf(operation), body: JSON.stringify(resource ?? null) };
  if (claim && !(await storeResponse(em, claim, sealed(answer, operation, claim, request.services.sealedSecrets)))) {
    // This request took longer than a claim lasts, and another one has done it. The next repetition is told its answer.
    throw requestInProgress();
  }
  return answer;
}

function sealed(
  answer: StoredResponse,
  { showsSecret }: Operation,
  claim: IdempotencyKey,
  secrets: SealedSecrets,
): StoredResponse {
  return showsSecret ? { ...answer, body: secrets.seal(answer.body, purposeOf(claim)) } : answer;
}

function opened(
  answer: StoredResponse,
  { showsSecret }: Operation,
  claim: IdempotencyKey,
  secrets: SealedSecrets,
): StoredResponse {
  if (!showsSecret) return answer;
  try {
    return { ...answer, body: secrets.open(answer.body, purposeOf(claim)) };
  } catch (error) {
    throw new ServiceError(
      'idempotency_key_reuse',
      'This Idempotency-Key was used, and the answer with its secret can no longer be opened: the key that sealed it is ' +
        'gone. What was asked for was done; use a new Idempotency-Key to ask for another secret.',
      { cause: error },
    );
  }
}

/** An answer that was moved to another claim does not open. */
const purposeOf = ({ organizationId, route, key }: IdempotencyKey) => `answer to ${organizationId} ${route} ${key}`;

function render(context: ApiContext, operation: Operation, answer: unknown): void {
  context.status = statusOf(operation);
  if (answer instanceof TextAnswer) {
    context.type = answer.mediaType;
    context.body = answer.text;
  } else {
    context.body = answer;
  }
}

export const statusOf = ({ status = 200 }: Operation) => status;

function idOf(resource: unknown): string | undefined {
  if (typeof resource !== 'object' || resource === null || !('id' in resource)) return undefined;
  return typeof resource.id === 'string' ? resource.id : undefined;
}
