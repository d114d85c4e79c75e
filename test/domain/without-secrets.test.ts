/** Secrets are taken out of any text, and what is none stays. */
import { describe, expect, it } from '@jest/globals';
import { type KeyMode, newApiKeySecret } from '../../src/domain/api-keys.ts';
import { newId } from '../../src/domain/ids.ts';
import { newWebhookSecret } from '../../src/domain/webhook-signing.ts';
import { withoutSecrets } from '../../src/domain/without-secrets.ts';

const MODES: KeyMode[] = ['live', 'staging', 'test'];
const TOKEN = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfMSJ9.c2lnbmF0dXJl-_';

describe.each([
  ...MODES.map((mode) => [`a ${mode} key`, newApiKeySecret(mode).secret]),
  ['a webhook secret', newWebhookSecret()],
  ['a token', TOKEN],
  ['a token without signature', TOKEN.replace(/[^.]+$/, '')],
])('%s', (_what, secret = '') => {
  it.each([
    ['alone', secret],
    ['in a path', `/v1/jobs/${secret}/events`],
    ['in a query', `?key=${secret}&wait=true`],
    ['in JSON', JSON.stringify({ msg: `no such thing: ${secret}` })],
    ['after another', `${secret} ${secret}`],
  ])('%s is taken out', (_where, text) => {
    const shown = withoutSecrets(text);
    expect(shown).toContain('[redacted]');
    for (const part of secret.split(/[._]/).filter(({ length }) => length > 8)) expect(shown).not.toContain(part);
  });
});

it.each([
  newId('job'),
  newId('apiKey'),
  `/v1/jobs/${newId('job')}?limit=3`,
  'chk_live_1a2B',
  'a sentence of eyJays and others.',
])('%s stays as it is', (text) => {
  expect(withoutSecrets(text)).toBe(text);
});
