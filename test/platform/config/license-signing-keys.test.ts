import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/platform/config/config.ts';
import { parseLicenseSigningKeys } from '../../../src/platform/config/license-signing-keys.ts';
import { newLicenseKey } from '../../support/license-keys.ts';

const KIND = { kty: 'OKP', crv: 'Ed25519' };
const [one, two] = [newLicenseKey('one'), newLicenseKey('two')];
const { kty, crv, x, y, d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const text = (...keys: unknown[]) => JSON.stringify({ keys });

describe('signing keys', () => {
  it('signing keys are a JSON Web Key Set; later keys may be public only, and other members are dropped', () => {
    const { d: _, ...publicTwo } = two;
    expect(
      parseLicenseSigningKeys(text({ ...KIND, ...one, alg: 'EdDSA', use: 'sig' }, { ...KIND, ...publicTwo })),
    ).toEqual([one, publicTwo]);
  });

  it('the set of signing keys may be empty', () => expect(parseLicenseSigningKeys('{"keys":[]}')).toEqual([]));

  it.each([
    ['text', 'secret'],
    ['no set', JSON.stringify({ ...KIND, ...one })],
    ['a list', JSON.stringify([{ ...KIND, ...one }])],
    ['a first key without its private part', text({ ...KIND, kid: 'one', x: one.x })],
    ['two keys of one name', text({ ...KIND, ...one }, { ...KIND, ...two, kid: 'one' })],
    ['a key without a name', text({ ...KIND, x: one.x, d: one.d })],
    ['a key of another kind', text({ kid: 'one', kty, crv, x, y, d })],
    ['parts of two keys', text({ ...KIND, ...one, d: two.d })],
    ['a key cut short', text({ ...KIND, ...one, d: one.d.slice(0, 20) })],
    ['a malformed public key', text({ ...KIND, ...one }, { ...KIND, kid: 'two', x: 'AA' })],
    ['a key that is null', text({ ...KIND, ...one }, null)],
  ])('signing keys are refused without quoting them: %s', (_what, value) => {
    const environment = { DATABASE_URL: 'postgres://localhost/x', TEMPORAL_ADDRESS: 'x', LICENSE_SIGNING_KEYS: value };
    const read = () => readConfig('api', { ...environment, SERVICE_ENVIRONMENT: 'development' });
    expect(read).toThrow('LICENSE_SIGNING_KEYS must be a JSON Web Key Set of Ed25519 keys');
    expect(read).not.toThrow(one.d);
    expect(read).not.toThrow(value);
  });
});
