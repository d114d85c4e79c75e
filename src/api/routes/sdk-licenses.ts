/** `POST /v1/sdk-licenses/{sdk}` issues the licence of an SDK; `GET` reads it. */
import type Router from '@koa/router';
import type { Next } from 'koa';
import { Type } from 'typebox';
import { fingerprint } from '../../jobs/idempotency.ts';
import {
  claimIdempotencyKey,
  type IdempotencyKey,
  type StoredResponse,
  storeResponse,
} from '../../jobs/idempotency-claims-store.ts';
import { SDKS } from '../../organizations/scopes.ts';
import type { EntityManager } from '../../platform/database/orm.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { LicenseSigning } from '../../sdk-licenses/license-signing.ts';
import { renderSdkEntitlement, type Sdk } from '../../sdk-licenses/sdk-licenses.ts';
import { issueSdkLicense, readSdkEntitlement } from '../../sdk-licenses/sdk-licenses-store.ts';
import type { ApiContext, ApiState } from '../context.ts';
import type { Access } from '../middleware/authenticate.ts';
import { readOptionalJsonBody } from '../requests/json-body.ts';
import { readIdempotencyKey, refuseUnknownQuery } from '../requests/request-options.ts';
import { compileValidator } from '../requests/validator.ts';

export const sdkLicenseBody = Type.Object(
  {
    regenerate: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Signs the licence of the current paid period again, without extending it or consuming a slot.',
      }),
    ),
  },
  { additionalProperties: false },
);

const validateBody = compileValidator(sdkLicenseBody, 'json');

const ISSUES_PER_MINUTE = 600;
/** Longer than issuing takes; an older claim belongs to a request that died. */
const IN_PROGRESS_MS = 60_000;

/** Test mode has no licences. */
async function refuseTestKeys(context: ApiContext, next: Next): Promise<void> {
  // Proofs are private to their organisation, and a cached one would hide a renewal.
  context.set('Cache-Control', 'no-store');
  if (!context.state.apiKey.livemode) {
    throw new ServiceError(
      'license_environment_forbidden',
      'SDK licences exist in production and staging only. Use a live or a staging key.',
    );
  }
  await next();
}

function refuseUnknownSdk(): never {
  throw new ServiceError('parameter_invalid', `"sdk" must be one of ${SDKS.join(', ')}.`, { param: 'sdk' });
}

interface SdkLicenseDependencies {
  licenseSigning: LicenseSigning;
  clock: () => Date;
  /** Requires a key with a scope. */
  withKey: (access: Access) => (context: ApiContext, next: Next) => Promise<void>;
  /** The rate of all reads. */
  reads: Access['rate'];
}

export function addSdkLicenseRoutes(router: Router<ApiState>, dependencies: SdkLicenseDependencies): void {
  const { withKey, reads } = dependencies;
  const issues = { name: 'sdk_licenses', livePerMinute: ISSUES_PER_MINUTE };
  for (const sdk of SDKS) {
    const path = `/v1/sdk-licenses/${sdk}`;
    const withScope = (access: 'read' | 'write', rate: Access['rate']) =>
      [withKey({ scope: `sdk:${sdk}:${access}`, rate }), refuseTestKeys] as const;
    router.post(path, ...withScope('write', issues), createIssueRoute(sdk, dependencies));
    router.get(path, ...withScope('read', reads), createReadRoute(sdk, dependencies));
  }
  // An unknown SDK has no scope, so any key gets the explanation.
  router.post('/v1/sdk-licenses/:sdk', withKey({ scope: null, rate: issues }), refuseUnknownSdk);
  router.get('/v1/sdk-licenses/:sdk', withKey({ scope: null, rate: reads }), refuseUnknownSdk);
}

function createIssueRoute(sdk: Sdk, { licenseSigning, clock }: SdkLicenseDependencies) {
  return async (context: ApiContext): Promise<void> => {
    refuseUnknownQuery(context, []);
    const key = readIdempotencyKey(context);
    const regenerate = await readRegenerate(context);
    const { sign } = licenseSigning;
    if (!sign) {
      throw new ServiceError(
        'license_signing_unconfigured',
        'This service has no licence signing key. Ask its operator to set LICENSE_SIGNING_KEYS.',
      );
    }
    const requested = { sdk, regenerate };
    const { organizationId, livemode } = context.state.apiKey;
    const now = clock();
    const issue = async (em: EntityManager) => {
      const entitlement = await issueSdkLicense(em, { organizationId, ...requested, now }, sign);
      return { status: 200, body: JSON.stringify(renderSdkEntitlement(entitlement, now)) };
    };
    const claim = { organizationId, livemode, route: `sdk-licenses/${sdk}` };
    const { answer, isReplay } = await context.state.em.transactional(async (em) =>
      key === null ? { answer: await issue(em), isReplay: false } : once(em, { ...claim, key }, requested, now, issue),
    );
    if (isReplay) context.set('Idempotent-Replayed', 'true');
    context.status = answer.status;
    context.type = 'application/json';
    context.body = answer.body;
  };
}

/** Runs the work unless the key was used before. Claim, work and stored response share one transaction. */
async function once(
  em: EntityManager,
  claim: IdempotencyKey,
  payload: unknown,
  now: Date,
  work: (em: EntityManager) => Promise<StoredResponse>,
): Promise<{ answer: StoredResponse; isReplay: boolean }> {
  const pending = { status: 0, body: '' };
  const inProgressUntil = new Date(now.getTime() + IN_PROGRESS_MS);
  const replay = await claimIdempotencyKey(em, claim, fingerprint(payload), pending, inProgressUntil);
  if (replay) return { answer: replay, isReplay: true };
  const answer = await work(em);
  await storeResponse(em, claim, answer);
  return { answer, isReplay: false };
}

async function readRegenerate(context: ApiContext): Promise<boolean> {
  const body = await readOptionalJsonBody(context);
  validateBody(body);
  return (body as Type.Static<typeof sdkLicenseBody>).regenerate === true;
}

function createReadRoute(sdk: Sdk, { clock }: SdkLicenseDependencies) {
  return async (context: ApiContext): Promise<void> => {
    refuseUnknownQuery(context, []);
    const { organizationId } = context.state.apiKey;
    const now = clock();
    const entitlement = await readSdkEntitlement(context.state.em, organizationId, sdk, now);
    context.body = renderSdkEntitlement(entitlement, now);
  };
}
