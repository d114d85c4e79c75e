/** API keys, webhook secrets and tokens, wherever in a text they got to: in a path, or the message of an error. */
const SECRETS =
  /\b(chk_(?:live|stg|test)_|whsec_)[A-Za-z0-9+/=_-]{8,}|\b(Bearer )[\w.~+/=-]{8,}|\b(eyJ)[\w-]{8,}\.[\w.-]*/g;

/** Leaves of each secret what kind it is of. */
export function withoutSecrets(text: string): string {
  return text.replace(
    SECRETS,
    (_secret, prefix?: string, scheme?: string, token?: string) => `${prefix ?? scheme ?? token}[redacted]`,
  );
}
