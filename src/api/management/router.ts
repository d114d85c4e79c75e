/** Routes of the management API: each operation is checked, run in one transaction and recorded, in the same way. */
import type Router from '@koa/router';
import type { Logger } from 'pino';
import {
  claimIdempotencyKey,
  findStoredResponse,
  type IdempotencyKey,
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
  type Member,
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
    const body = changes ? await readOptionalJsonBody(context.req) : {};
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
    if (!changes) {
      render(context, operation, await operation.handle(request, await operation.prepare?.(request)));
      return;
    }
    const claim = key === null ? null : claimOf(context, operation, member, key);
    const { answer, isReplay } =
      (claim && (await findReplay(operation, request, claim))) ?? (await change(operation, request, claim));
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
function claimOf(context: ApiContext, operation: Operation, member: Member, key: string): IdempotencyKey {
  // The path tells two resources apart, and the mode is no part of the address here.
  const route = `${operation.id} ${context.path} ${member.userId}`;
  return { organizationId: member.organizationId, livemode: true, route, key };
}

interface Changed {
  answer: StoredResponse;
  isReplay: boolean;
}

/** Where something is looked up first, a repeated request is answered without: what is found may differ by now. */
async function findReplay(
  operation: Operation,
  request: ManagementRequest,
  claim: IdempotencyKey,
): Promise<Changed | null> {
  if (!operation.prepare) return null;
  const stored = await findStoredResponse(request.em, claim, fingerprint(request.body));
  return stored && { answer: opened(stored, operation, claim, request.services.sealedSecrets), isReplay: true };
}

/** Claim, change, audit entry and stored answer are one transaction: all of it happened, or nothing. */
async function change(
  operation: Operation,
  request: ManagementRequest,
  claim: IdempotencyKey | null,
): Promise<Changed> {
  const { member, now } = request;
  const { sealedSecrets } = request.services;
  const prepared = await operation.prepare?.(request);
  // What was read before the transaction may have changed: it begins without any of it.
  return request.em.fork().transactional(async (em) => {
    await ensureOrganization(em, member.organizationId);
    if (claim) {
      const replay = await claimIdempotencyKey(
        em,
        claim,
        fingerprint(request.body),
        { status: 0, body: '' },
        new Date(now.getTime() + IN_PROGRESS_MS),
      );
      if (replay) return { answer: opened(replay, operation, claim, sealedSecrets), isReplay: true };
    }
    const resource = await operation.handle({ ...request, em }, prepared);
    await em.flush();
    await recordAudit(em, {
      organizationId: member.organizationId,
      userId: member.userId,
      role: member.role,
      action: operation.id,
      targetId: request.parameters.id ?? idOf(resource) ?? member.organizationId,
      details: request.body as Record<string, unknown>,
      requestId: request.requestId,
      createdAt: now,
    });
    const answer = { status: statusOf(operation), body: JSON.stringify(resource ?? null) };
    if (claim) await storeResponse(em, claim, sealed(answer, operation, claim, sealedSecrets));
    return { answer, isReplay: false };
  });
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
  return showsSecret ? { ...answer, body: secrets.open(answer.body, purposeOf(claim)) } : answer;
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
