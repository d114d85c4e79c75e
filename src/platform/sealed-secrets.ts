/**
 * Seals secrets that must be read again (a webhook's signing secret, a stored response that shows a key) before they are
 * stored, with AES-256-GCM (NIST SP 800-38D). A copy of the database alone reveals none of them.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'sealed1';

export interface SealedSecrets {
  /** `purpose` is authenticated too: a secret sealed for one purpose does not open for another. */
  seal(secret: string, purpose: string): string;
  /** @throws Error when no key opens it, or when it was changed */
  open(sealed: string, purpose: string): string;
}

/** The first key seals and all keys open, so that a new key can be put before the old one. */
export function createSealedSecrets(keys: readonly string[]): SealedSecrets {
  const derived = keys.map((key) => {
    const bytes = Buffer.from(hkdfSync('sha256', key, '', 'sealed secrets', 32));
    return { bytes, id: createHash('sha256').update(bytes).digest('hex').slice(0, 8) };
  });
  const [current] = derived;
  if (!current) throw new Error('there is no key to seal secrets with');
  return {
    seal(secret, purpose) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, current.bytes, nonce).setAAD(Buffer.from(purpose));
      const content = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${VERSION}.${current.id}.${content.toString('base64url')}`;
    },
    open(sealed, purpose) {
      const [version, id, text = ''] = sealed.split('.');
      const key = derived.find((known) => known.id === id);
      if (version !== VERSION || !key) throw new Error('a sealed secret was sealed with a key that is not configured');
      const content = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv(CIPHER, key.bytes, content.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(purpose))
        .setAuthTag(content.subarray(-TAG_BYTES));
      return decipher.update(content.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}
