/**
 * Rules of SDK licences. A subscription pays for periods, and each period for a number of different SDKs. A licensed SDK
 * takes one of these slots until the period ends.
 */
import type { SDKS } from '../organizations/scopes.ts';
import { ServiceError } from '../platform/service-error.ts';

export type Sdk = (typeof SDKS)[number];

/** From `paidFrom`, inclusive, to `paidUntil`, exclusive. */
export interface PaidPeriod {
  paidFrom: Date;
  paidUntil: Date;
  maxSdks: number;
}

export interface SdkLicense {
  /** A UUID that stays the same across renewals. */
  id: string;
  organizationId: string;
  sdk: Sdk;
  createdAt: Date;
  /** When the proof was signed. */
  issuedAt: Date;
  validFrom: Date;
  expiresAt: Date;
  /** An EdDSA JWT. */
  proof: string;
}

/** An organisation's entitlement for one SDK. */
export interface SdkEntitlement {
  sdk: Sdk;
  /** The currently paid period; null without one. */
  period: PaidPeriod | null;
  /** Slots of the period taken by any SDK. */
  consumed: number;
  /** Whether this SDK holds one of them. */
  holdsSlot: boolean;
  license: SdkLicense | null;
}

/** The plan of an issue. A slot is taken in the period that begins at `validFrom`. */
export type IssuePlan =
  | { action: 'return stored'; license: SdkLicense }
  | { action: 'sign'; takesSlot: boolean; validFrom: Date; expiresAt: Date };

/**
 * Decides an issue. A proof signed for the current period is returned unchanged, unless `regenerate` requests a new
 * signature for the same period.
 * @throws ServiceError `subscription_unpaid`, `sdk_license_not_current`, `sdk_quota_exceeded`
 */
export function planIssue(
  { sdk, period, consumed, holdsSlot, license }: SdkEntitlement,
  regenerate: boolean,
  now: Date,
): IssuePlan {
  if (!period) {
    throw new ServiceError(
      'subscription_unpaid',
      'This organisation has no paid SDK subscription at this time. Pay for one, then repeat the request.',
    );
  }
  const current = holdsSlot && license && license.expiresAt > now ? license : null;
  if (regenerate) {
    if (!current) {
      throw new ServiceError(
        'sdk_license_not_current',
        `The organisation has no licence of the ${sdk} SDK for the paid period. Omit "regenerate" to issue one.`,
        { param: 'regenerate' },
      );
    }
    return { action: 'sign', takesSlot: false, validFrom: current.validFrom, expiresAt: current.expiresAt };
  }
  // An extended period is signed again; a shortened one revokes nothing.
  if (current && current.expiresAt >= period.paidUntil) return { action: 'return stored', license: current };
  if (!holdsSlot && consumed >= period.maxSdks) {
    throw new ServiceError(
      'sdk_quota_exceeded',
      `The subscription covers ${period.maxSdks} SDKs and ${consumed} are licensed in this period. ` +
        'Upgrade the subscription, or wait for the next period.',
    );
  }
  return { action: 'sign', takesSlot: !holdsSlot, validFrom: period.paidFrom, expiresAt: period.paidUntil };
}

export type SdkLicenseState = 'unassigned' | 'active' | 'expired';

export const SDK_LICENSE_STATES = ['unassigned', 'active', 'expired'] as const satisfies readonly SdkLicenseState[];

/** The resource "SDK licence view". */
export function renderSdkEntitlement({ sdk, period, consumed, license }: SdkEntitlement, now: Date) {
  const maxSdks = period?.maxSdks ?? 0;
  return {
    sdk,
    state: stateOf(license, now),
    max_sdks: maxSdks,
    consumed,
    // A lowered quota revokes nothing.
    available: Math.max(maxSdks - consumed, 0),
    license: license && renderSdkLicense(license),
  };
}

function stateOf(license: SdkLicense | null, now: Date): SdkLicenseState {
  if (!license) return 'unassigned';
  return license.expiresAt > now ? 'active' : 'expired';
}

function renderSdkLicense(license: SdkLicense) {
  return {
    id: license.id,
    organization_id: license.organizationId,
    sdk: license.sdk,
    created_at: license.createdAt.toISOString(),
    issued_at: license.issuedAt.toISOString(),
    valid_from: license.validFrom.toISOString(),
    expires_at: license.expiresAt.toISOString(),
    proof: license.proof,
  };
}
