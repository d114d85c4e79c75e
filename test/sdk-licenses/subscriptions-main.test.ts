/** `npm run -s subscriptions`, as a payment integration runs it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { ensureOrganization } from '../../src/organizations/organizations-store.ts';
import { newId } from '../../src/platform/ids.ts';
import { subscriptionsCommand } from '../../src/sdk-licenses/subscriptions-main.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { callCommand } from '../support/operator-commands.ts';
import { useProcesses } from '../support/processes.ts';

const processes = useProcesses();
const organizationId = newId('organization');
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const orm = await openDatabase({ url: database.url, poolSize: 1 });
  await ensureOrganization(orm.em.fork(), organizationId);
  await orm.close();
});
afterAll(() => database.drop());

async function run(...words: string[]): Promise<{ code: number; output: string }> {
  const { status, stdout, stderr } = await callCommand(subscriptionsCommand, words, database.url);
  return { code: status, output: stdout + stderr };
}

it('the subscriptions program prints the subscription, and exits with status 1 on invalid input', async () => {
  const program = async (...args: string[]) => {
    const environment = { DATABASE_URL: database.url };
    const command = await processes.start({ entry: 'src/sdk-licenses/subscriptions-main.ts', args, environment });
    return { ...(await command.exited), output: command.lines.join('\n') };
  };
  expect(await program('show', organizationId)).toEqual({ code: 0, signal: null, output: 'null' });
  expect(await program()).toEqual({ code: 1, signal: null, output: expect.stringContaining('usage:') });
});

it('the subscriptions command sets, shows and cancels periods', async () => {
  expect(await run('show', organizationId)).toEqual({ code: 0, output: 'null' });
  const set = (from: string, until: string, maxSdks: string) =>
    run('set', organizationId, '--from', from, '--until', until, '--max-sdks', maxSdks);
  await set('2027-01-01', '2027-02-01', '2');
  const { output } = await set('2027-02-01', '2027-03-01T12:00:00+01:00', '3');
  const periods = [
    { paidFrom: '2027-01-01T00:00:00.000Z', paidUntil: '2027-02-01T00:00:00.000Z', maxSdks: 2 },
    { paidFrom: '2027-02-01T00:00:00.000Z', paidUntil: '2027-03-01T11:00:00.000Z', maxSdks: 3 },
  ];
  expect(JSON.parse(output)).toEqual({ canceledAt: null, periods });
  // It accepts the times that it prints.
  const { paidFrom, paidUntil } = JSON.parse(output).periods[1];
  expect(await set(paidFrom, paidUntil, '3')).toEqual({ code: 0, output });
  const canceled = await run('cancel', organizationId);
  expect(JSON.parse(canceled.output)).toEqual({ canceledAt: expect.any(String), periods });
});

describe('invalid input of the subscriptions command', () => {
  const period = ['--from', '2028-01-01', '--until', '2028-02-01'];

  it.each([
    { args: [], says: 'usage:' },
    { args: ['set'], says: 'usage:' },
    { args: ['set', 'Example Ltd', ...period, '--max-sdks', '1'], says: 'usage:' },
    { args: ['extend', organizationId], says: 'usage:' },
    {
      args: ['set', organizationId, '--from', 'today', '--until', '2028-02-01', '--max-sdks', '1'],
      says: '--from must',
    },
    {
      args: ['set', organizationId, '--from', '2028-01-01', '--max-sdks', '1'],
      says: '--until must be an ISO 8601 day or instant',
    },
    {
      args: ['set', organizationId, '--from', '2028-02-01', '--until', '2028-01-01', '--max-sdks', '1'],
      says: 'before',
    },
    { args: ['set', organizationId, ...period], says: '--max-sdks must be a whole number' },
    { args: ['set', organizationId, ...period, '--max-sdks', '-1'], says: '--max-sdks' },
    { args: ['set', organizationId, ...period, '--quota', '1'], says: '--quota' },
    {
      args: ['set', organizationId, '--from', '2027-02-30', '--until', '2028-02-01', '--max-sdks', '1'],
      says: '"2027-02-30" is not one',
    },
    {
      args: ['set', organizationId, '--from', '2027-01-01', '--until', '2027-02-29T00:00:00+01:00', '--max-sdks', '1'],
      says: '"2027-02-29T00:00:00+01:00" is not one',
    },
    { args: ['set', 'org_unknown', ...period, '--max-sdks', '1'], says: 'There is no organisation org_unknown' },
    { args: ['cancel', newId('organization')], says: 'There is no subscription' },
  ])('the subscriptions command explains invalid input and exits with status 1: $args', async ({ args, says }) => {
    const { code, output } = await run(...args);
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(says) });
  });
});
