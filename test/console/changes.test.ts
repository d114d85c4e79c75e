/** The audit log in words. */
import { expect, it } from 'vitest';
import { detailsOf, doneOf, runsOf } from '../../console/src/changes.ts';
import { formatNumber, formatTime } from '../../console/src/format.ts';
import type { AuditLogEntry } from '../../src/client/management.ts';

const entry = (action: string, details: Record<string, unknown>): AuditLogEntry => ({
  id: 'aud_1',
  object: 'audit_log_entry',
  user_id: 'usr_1',
  role: 'owner',
  action,
  target_id: 'key_1',
  details,
  request_id: 'req_1',
  created: 1_795_257_271,
});

it.each([
  [
    'createApiKey',
    { name: 'Workshop', livemode: false, scopes: ['*'] },
    'Made an API key',
    'name: Workshop; scopes: *; mode: test',
  ],
  ['createApiKey', { livemode: true, is_staging: true }, 'Made an API key', 'mode: staging'],
  ['rotateApiKey', { grace_seconds: 86_400 }, 'Rotated an API key', `grace: ${formatNumber(1)} day`],
  ['rotateApiKey', { grace_seconds: 5_400 }, 'Rotated an API key', `grace: ${formatNumber(90)} minutes`],
  ['revokeApiKey', {}, 'Revoked an API key', ''],
  [
    'updateWebhookEndpoint',
    { description: '', events: [] },
    'Changed a webhook endpoint',
    'description: none; events: none',
  ],
  ['updateCredits', { low_balance_threshold: null }, 'Changed the low-balance warning', 'low balance threshold: none'],
  ['somethingNewer', { count: 2 }, 'somethingNewer', `count: ${formatNumber(2)}`],
])('a change %s with %p is described as: %s, %s', (action, details, done, told) => {
  expect([doneOf(entry(action, details)), detailsOf(entry(action, details))]).toEqual([done, told]);
});

it('a change shows times as times, not as seconds', () => {
  const text = detailsOf(entry('updateApiKey', { expires_at: 1_795_257_271 }));
  // As the machine's language writes it, with a year of its calendar.
  expect(text).toBe(`expires: ${formatTime(1_795_257_271)}`);
  expect(text).not.toContain('1795257271');
});

it('a change that repeats the one before is put together with it, and nothing else is', () => {
  const rotated = (id: string, changed: Partial<AuditLogEntry> = {}): AuditLogEntry => ({
    ...entry('rotateApiKey', { grace_seconds: 0 }),
    id,
    ...changed,
  });
  const entries = [
    rotated('aud_9'),
    rotated('aud_8'),
    rotated('aud_7', { target_id: 'key_2' }),
    rotated('aud_6', { user_id: 'usr_2' }),
    rotated('aud_5', { details: { grace_seconds: 60 } }),
    rotated('aud_4'),
    { ...entry('revokeApiKey', {}), id: 'aud_3' },
  ];
  expect(runsOf(entries).map((run) => run.map(({ id }) => id))).toEqual([
    ['aud_9', 'aud_8'],
    ['aud_7'],
    ['aud_6'],
    ['aud_5'],
    ['aud_4'],
    ['aud_3'],
  ]);
});
