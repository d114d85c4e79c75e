/**
 * API keys, webhook secrets and tokens anywhere in a text, such as a path or the message of an error. Nothing follows what repeats: to
 * look for it at every start would take the square of a path that anybody may send.
 */
const SECRETS = /\b(chk_(?:live|stg|test)_|whsec_)[A-Za-z0-9+/=_-]{8,}|\b(Bearer )[\w.~+/=-]{8,}|\b(eyJ)[\w.-]{8,}/g;

/** Keeps only the kind of each secret. */
export function redactSecrets(text: string): string {
  return text.replace(
    SECRETS,
    (_secret, prefix?: string, scheme?: string, token?: string) => `${prefix ?? scheme ?? token}[redacted]`,
  );
}
