/** Issued SDK licences and their quota. */
import { randomUUID } from 'node:crypto';
import { SDKS } from '../organizations/scopes.ts';
import { type EntityManager, query } from '../platform/database/orm.ts';
import { planIssue, type Sdk, type SdkEntitlement, type SdkLicense } from './sdk-licenses.ts';

/** Returns the proof of a licence. */
export type SignLicense = (license: Omit<SdkLicense, 'proof'>) => Promise<string>;

interface Issue {
  organizationId: string;
  sdk: Sdk;
  regenerate: boolean;
  now: Date;
}

/**
 * Issues a licence, or returns the current one. Call it in a transaction: the lock on the subscription's row serialises
 * the issues of an organisation, so that no slot is taken twice.
 * @throws ServiceError `subscription_unpaid`, `sdk_quota_exceeded`, `sdk_license_not_current`
 */
export async function issueSdkLicense(
  em: EntityManager,
  { organizationId, sdk, regenerate, now }: Issue,
  sign: SignLicense,
): Promise<SdkEntitlement> {
  await query(em, 'select from sdk_subscriptions where organization_id = $1 for update', [organizationId]);
  const entitlement = await readSdkEntitlement(em, organizationId, sdk, now);
  const plan = planIssue(entitlement, regenerate, now);
  if (plan.action === 'return stored') return entitlement;
  const unsigned = {
    id: entitlement.license?.id ?? randomUUID(),
    organizationId,
    sdk,
    createdAt: entitlement.license?.createdAt ?? now,
    issuedAt: now,
    validFrom: plan.validFrom,
    expiresAt: plan.expiresAt,
  };
  await storeLicense(em, { ...unsigned, proof: await sign(unsigned) });
  if (plan.takesSlot) {
    await query(
      em,
      'insert into sdk_license_slots (organization_id, paid_from, sdk, allocated_at) values ($1, $2, $3, $4)',
      [organizationId, plan.validFrom, sdk, now],
    );
  }
  return readSdkEntitlement(em, organizationId, sdk, now);
}

async function storeLicense(em: EntityManager, license: SdkLicense): Promise<void> {
  const { id, organizationId, sdk, createdAt, issuedAt, validFrom, expiresAt, proof } = license;
  await query(
    em,
    `insert into sdk_licenses (id, organization_id, sdk, created_at, issued_at, valid_from, expires_at, proof)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (id) do update
       set issued_at = excluded.issued_at, valid_from = excluded.valid_from, expires_at = excluded.expires_at,
         proof = excluded.proof`,
    [id, organizationId, sdk, createdAt, issuedAt, validFrom, expiresAt, proof],
  );
}

/** The entitlement of an organisation for one SDK at a time. */
export async function readSdkEntitlement(
  em: EntityManager,
  organizationId: string,
  sdk: Sdk,
  now: Date,
): Promise<SdkEntitlement> {
  const [entitlement] = await readEntitlements(em, organizationId, [sdk], now);
  if (!entitlement) throw new Error('the SDK has no row');
  return entitlement;
}

/** The entitlements of an organisation for all SDKs at a time, in catalogue order. */
export function readSdkEntitlements(em: EntityManager, organizationId: string, now: Date): Promise<SdkEntitlement[]> {
  return readEntitlements(em, organizationId, SDKS, now);
}

/** A timestamp as the database driver returns it. */
type Instant = string | Date;

interface EntitlementRow {
  sdk: Sdk;
  paid_from: Instant | null;
  paid_until: Instant | null;
  max_sdks: number | null;
  consumed: number;
  holds_slot: boolean;
  id: string | null;
  created_at: Instant;
  issued_at: Instant;
  valid_from: Instant;
  expires_at: Instant;
  proof: string;
}

/** One statement gives one snapshot of quota and licences. */
async function readEntitlements(
  em: EntityManager,
  organizationId: string,
  sdks: readonly Sdk[],
  now: Date,
): Promise<SdkEntitlement[]> {
  const rows = await query<EntitlementRow>(
    em,
    `select requested.sdk, period.paid_from, period.paid_until, period.max_sdks,
       slots.consumed, slots.holds_slot,
       license.id, license.created_at, license.issued_at, license.valid_from, license.expires_at, license.proof
     from unnest($2::text[]) with ordinality as requested (sdk, position)
     left join sdk_paid_periods as period
       on period.organization_id = $1 and period.paid_from <= $3 and $3 < period.paid_until
     cross join lateral (
       select count(*)::integer as consumed, coalesce(bool_or(slot.sdk = requested.sdk), false) as holds_slot
       from sdk_license_slots as slot
       where slot.organization_id = $1 and slot.paid_from = period.paid_from
     ) as slots
     left join sdk_licenses as license on license.organization_id = $1 and license.sdk = requested.sdk
     order by requested.position`,
    [organizationId, [...sdks], now],
  );
  return rows.map((row) => asEntitlement(row, organizationId));
}

function asEntitlement(row: EntitlementRow, organizationId: string): SdkEntitlement {
  const { sdk, paid_from, paid_until, max_sdks, consumed, holds_slot: holdsSlot, id, proof } = row;
  const isPaid = paid_from !== null && paid_until !== null && max_sdks !== null;
  const times = {
    createdAt: new Date(row.created_at),
    issuedAt: new Date(row.issued_at),
    validFrom: new Date(row.valid_from),
    expiresAt: new Date(row.expires_at),
  };
  return {
    sdk,
    period: isPaid ? { paidFrom: new Date(paid_from), paidUntil: new Date(paid_until), maxSdks: max_sdks } : null,
    consumed,
    holdsSlot,
    license: id === null ? null : { id, organizationId, sdk, ...times, proof },
  };
}
