/** Secrets of one data folder, made once and kept, so that what was sealed or signed with them stays good. */
import { generateKeyPairSync, type JsonWebKey, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { newId } from '../domain/ids.ts';
import { ROLES, type Role } from '../domain/roles.ts';

export interface DevelopmentSecrets {
  /** Of secrets in the database. */
  sealingKey: string;
  /** Of tokens of the development identity provider, private. */
  tokenSigningKey: JsonWebKey;
  /** What that provider gives tokens for. */
  clientSecret: string;
  /** Id of a user of each role. */
  users: Record<Role, string>;
}

export function readDevelopmentSecrets(path: string): DevelopmentSecrets {
  if (!existsSync(path)) writeFileSync(path, `${JSON.stringify(newSecrets(), null, 2)}\n`, { mode: 0o600 });
  return JSON.parse(readFileSync(path, 'utf8')) as DevelopmentSecrets;
}

function newSecrets(): DevelopmentSecrets {
  return {
    sealingKey: randomBytes(32).toString('base64url'),
    tokenSigningKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
    clientSecret: randomBytes(24).toString('base64url'),
    users: Object.fromEntries(ROLES.map((role) => [role, newId('user')])) as Record<Role, string>,
  };
}
