/** Names of makes and models, so that `C-Class`, `c class` and `C_CLASS` are one. Pure. */

/** Short forms that sellers write for makes. */
const ALIASES = new Map([
  ['vw', 'volkswagen'],
  ['mercedes', 'mercedesbenz'],
  ['merc', 'mercedesbenz'],
  ['chevy', 'chevrolet'],
  ['alfa', 'alfaromeo'],
]);

/** A name without case, accents and punctuation; empty if nothing remains. */
export function nameKey(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');
}

export function makeKey(make: string): string {
  const key = nameKey(make);
  return ALIASES.get(key) ?? key;
}
