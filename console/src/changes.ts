/** Entries of the audit log in words. */
import type { AuditLogEntry, ListAuditLogEntriesAction } from '../../src/client/management.ts';
import { formatBytes, formatNumber, formatTime, inWords } from './format.ts';

/** What was done, by the operation. Closed: a new operation does not compile without its words. */
export const DONE: Record<ListAuditLogEntriesAction, string> = {
  createApiKey: 'Made an API key',
  updateApiKey: 'Changed an API key',
  rotateApiKey: 'Rotated an API key',
  revokeApiKey: 'Revoked an API key',
  updateOrganization: 'Changed the organisation',
  createWebhookEndpoint: 'Added a webhook endpoint',
  updateWebhookEndpoint: 'Changed a webhook endpoint',
  deleteWebhookEndpoint: 'Deleted a webhook endpoint',
  enableWebhookEndpoint: 'Enabled a webhook endpoint again',
  rotateWebhookSecret: 'Rotated the signing secret of a webhook endpoint',
  testWebhookEndpoint: 'Sent a test event to a webhook endpoint',
  replayWebhookDelivery: 'Replayed a delivery',
  replayFailedWebhookDeliveries: 'Replayed the failed deliveries of a webhook endpoint',
  updateCredits: 'Changed the low-balance warning',
  topUpCredits: 'Topped up a balance',
};

export const doneOf = ({ action }: AuditLogEntry): string =>
  Object.hasOwn(DONE, action) ? DONE[action as ListAuditLogEntriesAction] : action;

export type Run = [AuditLogEntry, ...AuditLogEntry[]];

/** Entries in their order, those that repeat the one before together: the playground rotates its key at every visit. */
export function runsOf(entries: readonly AuditLogEntry[]): Run[] {
  const runs: Run[] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    if (run && saysTheSame(run[0], entry)) run.push(entry);
    else runs.push([entry]);
  }
  return runs;
}

const saysTheSame = (one: AuditLogEntry, other: AuditLogEntry) =>
  one.action === other.action &&
  one.target_id === other.target_id &&
  one.user_id === other.user_id &&
  one.role === other.role &&
  JSON.stringify(one.details) === JSON.stringify(other.details);

/** What was asked for, such as `name: Workshop; mode: test`. Empty when the action says it all. */
export function detailsOf({ details }: AuditLogEntry): string {
  const { livemode, is_staging: isStaging, ...others } = details;
  const mode = livemode === undefined ? [] : [`mode: ${isStaging ? 'staging' : livemode ? 'live' : 'test'}`];
  return [...Object.entries(others).map(([name, value]) => detailOf(name, value)), ...mode].join('; ');
}

function detailOf(name: string, value: unknown): string {
  const [, subject = name, unit] = /^(.*)_(seconds|at|bytes)$/.exec(name) ?? [];
  return `${inWords(subject)}: ${inWordsOf(unit ?? name, value)}`;
}

function inWordsOf(unit: string, value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') {
    if (unit === 'at' || unit === 'since') return formatTime(value);
    if (unit === 'seconds') return durationOf(value);
    return unit === 'bytes' ? formatBytes(value) : formatNumber(value);
  }
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ');
  if (typeof value === 'string') return value === '' ? 'none' : value;
  return JSON.stringify(value);
}

const DURATIONS: [number, string][] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
];

/** In the largest unit that divides it. */
function durationOf(seconds: number): string {
  const [length, unit] = DURATIONS.find(([one]) => seconds >= one && seconds % one === 0) ?? [1, 'second'];
  const count = seconds / length;
  return `${formatNumber(count)} ${unit}${count === 1 ? '' : 's'}`;
}
