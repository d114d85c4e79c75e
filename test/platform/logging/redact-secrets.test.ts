/** Secrets are redacted in any text; everything else stays. */
import { describe, expect, it } from 'vitest';
import { type KeyMode, newApiKeySecret } from '../../../src/organizations/api-keys.ts';
import { newId } from '../../../src/platform/ids.ts';
import { redactSecrets } from '../../../src/platform/logging/redact-secrets.ts';
import { newWebhookSecret } from '../../../src/webhooks/signing.ts';

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
  ])('a secret %s is redacted', (_where, text) => {
    const shown = redactSecrets(text);
    expect(shown).toContain('[redacted]');
    for (const part of secret.split(/[._]/).filter(({ length }) => length > 8)) expect(shown).not.toContain(part);
  });
});

it('redaction of a text with many beginnings of secrets takes linear time', () => {
  // The square would take hours.
  for (const beginning of ['eyJ-', 'Bearer ', 'whsec_/', 'chk_live_'])
    expect(redactSecrets(beginning.repeat(250_000))).not.toBe('');
});

it.each([
  newId('job'),
  newId('apiKey'),
  `/v1/jobs/${newId('job')}?limit=3`,
  'chk_live_1a2B',
  'a sentence of eyJays and others.',
])('redaction leaves %s unchanged', (text) => {
  expect(redactSecrets(text)).toBe(text);
});
