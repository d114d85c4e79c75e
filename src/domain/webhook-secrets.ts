/** Signing secrets of a webhook endpoint: sealed while they are stored, two of them while one is being replaced. */
import type { SealedSecrets } from './sealed-secrets.ts';
import { newWebhookSecret } from './webhook-signing.ts';

export interface StoredSecrets {
  /** Id of the endpoint: a secret that was moved to another endpoint does not open. */
  id: string;
  /** Sealed, newest first; one or two. */
  secrets: readonly string[];
  /** When the second of them stops signing. */
  previousSecretExpiresAt: Date | null;
}

const purpose = (webhookEndpointId: string) => `webhook secret of ${webhookEndpointId}`;

/** A new secret, as the customer is shown it once and as it is stored. */
export function newSealedSecret(webhookEndpointId: string, sealedSecrets: SealedSecrets) {
  const secret = newWebhookSecret();
  return { secret, sealed: sealWebhookSecret(webhookEndpointId, secret, sealedSecrets) };
}

export function sealWebhookSecret(webhookEndpointId: string, secret: string, sealedSecrets: SealedSecrets): string {
  return sealedSecrets.seal(secret, purpose(webhookEndpointId));
}

/** The secrets that sign at this moment, newest first. @throws Error when the sealing key is not configured any more */
export function activeSecrets(endpoint: StoredSecrets, sealedSecrets: SealedSecrets, now: Date): string[] {
  return activeSealed(endpoint, now).map((sealed) => sealedSecrets.open(sealed, purpose(endpoint.id)));
}

/** What is stored after a rotation: the new secret, and the one it replaces until its time is over. */
export function rotated(
  endpoint: StoredSecrets,
  newSealed: string,
  { graceSeconds, now }: { graceSeconds: number; now: Date },
): { secrets: string[]; previousSecretExpiresAt: Date | null } {
  const [current] = endpoint.secrets;
  if (graceSeconds === 0 || current === undefined) return { secrets: [newSealed], previousSecretExpiresAt: null };
  return {
    secrets: [newSealed, current],
    previousSecretExpiresAt: new Date(now.getTime() + graceSeconds * 1_000),
  };
}

function activeSealed({ secrets, previousSecretExpiresAt }: StoredSecrets, now: Date): readonly string[] {
  return previousSecretExpiresAt !== null && previousSecretExpiresAt > now ? secrets : secrets.slice(0, 1);
}
