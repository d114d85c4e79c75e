/** Secrets of one data folder, created once and kept, so that everything sealed or signed with them stays valid. */
import { generateKeyPairSync, type JsonWebKey, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { ROLES, type Role } from '../organizations/roles.ts';
import { newId } from '../platform/ids.ts';

export interface DevelopmentSecrets {
  /** Seals secrets in the database. */
  sealingKey: string;
  /** Private; signs the tokens of the development identity provider. */
  tokenSigningKey: JsonWebKey;
  /** Secret of that provider's clients. */
  clientSecret: string;
  /** Password of every user on the sign-in page of that provider. */
  password: string;
  /** Id of one user for each role. */
  users: Record<Role, string>;
}

export function readDevelopmentSecrets(path: string): DevelopmentSecrets {
  if (!existsSync(path)) writeFileSync(path, `${JSON.stringify(newSecrets(), null, 2)}\n`, { mode: 0o600 });
  const kept = JSON.parse(readFileSync(path, 'utf8')) as Partial<DevelopmentSecrets>;
  const secrets = { ...newSecrets(), ...kept };
  // A folder of an earlier release lacks what came later.
  if (Object.keys(secrets).length > Object.keys(kept).length) {
    writeFileSync(path, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  }
  return secrets;
}

function newSecrets(): DevelopmentSecrets {
  return {
    sealingKey: randomBytes(32).toString('base64url'),
    tokenSigningKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
    clientSecret: randomBytes(24).toString('base64url'),
    password: randomBytes(9).toString('base64url'),
    users: Object.fromEntries(ROLES.map((role) => [role, newId('user')])) as Record<Role, string>,
  };
}
