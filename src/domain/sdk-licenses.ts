/**
 * SDK licences: what an organisation may have signed, and what is seen of it. A subscription pays for periods, and each
 * period for a number of different SDKs; an SDK that is licensed takes one of these slots until the period ends.
 */
import type { SDKS } from './scopes.ts';
import { ServiceError } from './service-error.ts';

export type Sdk = (typeof SDKS)[number];

/** From `paidFrom` on, until just before `paidUntil`. */
export interface PaidPeriod {
  paidFrom: Date;
  paidUntil: Date;
  maxSdks: number;
}

export interface SdkLicense {
  /** A UUID, the same through all renewals. */
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

/** An SDK as an organisation has it. */
export interface SdkEntitlement {
  sdk: Sdk;
  /** Which is paid now; null when none is. */
  period: PaidPeriod | null;
  /** Slots of the period that are taken, by whichever SDK. */
  consumed: number;
  /** Whether one of them is this SDK's. */
  holdsSlot: boolean;
  license: SdkLicense | null;
}

/** What an issue comes to. A slot is taken of the period that begins at `validFrom`. */
export type IssuePlan =
  | { action: 'return stored'; license: SdkLicense }
  | { action: 'sign'; takesSlot: boolean; validFrom: Date; expiresAt: Date };

/**
 * Decides an issue. What was signed for the present period is returned as it is, unless `regenerate` asks for a new
 * signature over the same time.
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
      'No SDK subscription of this organisation is paid at this time. Pay one, then repeat the request.',
    );
  }
  const current = holdsSlot && license && license.expiresAt > now ? license : null;
  if (regenerate) {
    if (!current) {
      throw new ServiceError(
        'sdk_license_not_current',
        `The organisation has no licence of the ${sdk} SDK for the paid period. Leave "regenerate" out to have one issued.`,
        { param: 'regenerate' },
      );
    }
    return { action: 'sign', takesSlot: false, validFrom: current.validFrom, expiresAt: current.expiresAt };
  }
  // A period that was paid for longer meanwhile is signed for anew; one that was shortened takes nothing back.
  if (current && current.expiresAt >= period.paidUntil) return { action: 'return stored', license: current };
  if (!holdsSlot && consumed >= period.maxSdks) {
    throw new ServiceError(
      'sdk_quota_exceeded',
      `The subscription pays for ${period.maxSdks} SDKs and ${consumed} are licensed in this period. ` +
        'Have the subscription raised, or wait for the next period.',
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
    // A quota that was lowered leaves what is licensed as it is.
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
