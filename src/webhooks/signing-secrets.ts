/** Signing secrets of a webhook endpoint: sealed at rest, two during a rotation. */
import type { SealedSecrets } from '../platform/sealed-secrets.ts';
import { newWebhookSecret } from './signing.ts';

export interface StoredSecrets {
  /** Id of the endpoint. Binds the seal: a secret copied to another endpoint does not open. */
  id: string;
  /** Sealed, newest first; one or two. */
  secrets: string[];
  /** When the second secret stops signing. */
  previousSecretExpiresAt: Date | null;
}

const purpose = (webhookEndpointId: string) => `webhook secret of ${webhookEndpointId}`;

/** Creates a secret: in plain text for the customer, who sees it once, and sealed for storage. */
export function newSealedSecret(webhookEndpointId: string, sealedSecrets: SealedSecrets) {
  const secret = newWebhookSecret();
  return { secret, sealed: sealWebhookSecret(webhookEndpointId, secret, sealedSecrets) };
}

export function sealWebhookSecret(webhookEndpointId: string, secret: string, sealedSecrets: SealedSecrets): string {
  return sealedSecrets.seal(secret, purpose(webhookEndpointId));
}

/** The secrets that sign at `now`, newest first. @throws Error when the sealing key is no longer configured */
export function activeSecrets(endpoint: StoredSecrets, sealedSecrets: SealedSecrets, now: Date): string[] {
  return activeSealed(endpoint, now).map((sealed) => sealedSecrets.open(sealed, purpose(endpoint.id)));
}

interface Rotation {
  graceSeconds: number;
  now: Date;
}

/** Gives an endpoint a new secret, which is returned. The previous one signs as well until the grace period ends. */
export function rotateSigningSecret(
  endpoint: StoredSecrets,
  sealedSecrets: SealedSecrets,
  { graceSeconds, now }: Rotation,
): string {
  const { secret, sealed } = newSealedSecret(endpoint.id, sealedSecrets);
  const [current] = endpoint.secrets;
  const keepsCurrent = graceSeconds > 0 && current !== undefined;
  endpoint.secrets = keepsCurrent ? [sealed, current] : [sealed];
  endpoint.previousSecretExpiresAt = keepsCurrent ? new Date(now.getTime() + graceSeconds * 1_000) : null;
  return secret;
}

function activeSealed({ secrets, previousSecretExpiresAt }: StoredSecrets, now: Date): readonly string[] {
  return previousSecretExpiresAt !== null && previousSecretExpiresAt > now ? secrets : secrets.slice(0, 1);
}
