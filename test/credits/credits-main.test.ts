/** `npm run -s credits`: what an operator books by hand. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { creditsCommand } from '../../src/credits/credits-main.ts';
import { openDatabase } from '../../src/database.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { createCustomer } from '../support/customers.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { countRows } from '../support/jobs.ts';
import { expectLedgerToBalance } from '../support/ledger.ts';
import { callCommand } from '../support/operator-commands.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

let database: TestDatabase;
let orm: MikroORM;

beforeAll(async () => {
  database = await createTestDatabase();
  orm = await openDatabase({ url: database.url, poolSize: 2 });
});
afterAll(async () => {
  await expectLedgerToBalance(database.url);
  await orm.close();
  await database.drop();
});

const credits = (...words: string[]) => callCommand(creditsCommand, words, database.url);

const liveOf = (stdout: string) => JSON.parse(stdout)[0];

describe('the command', () => {
  it('the credits program prints the balances of the database of DATABASE_URL, and exits with status 1 on invalid input', async () => {
    const { organizationId } = await createCustomer(orm, { live: 7, test: 0 });
    const run = (...words: string[]) =>
      spawnSync(process.execPath, ['src/credits/credits-main.ts', ...words], {
        cwd: PROJECT_DIRECTORY,
        env: { DATABASE_URL: database.url, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
        encoding: 'utf8',
      });
    const shown = run('show', organizationId);
    expect([shown.status, shown.stderr, liveOf(shown.stdout).available]).toEqual([0, '', 7]);
    expect(run()).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('usage:') });
  });

  it('the credits command tops up, grants and adjusts, and prints the balances', async () => {
    const { organizationId } = await createCustomer(orm, { live: 0, test: 0 });
    const live = [organizationId, '--mode', 'live', '--reason', 'invoice 17'];
    expect(liveOf((await credits('top-up', ...live, '--credits', '500')).stdout)).toMatchObject({ available: 500 });
    const granted = liveOf((await credits('grant', ...live, '--credits', '40', '--expires', '2999-01-01')).stdout);
    expect(granted).toMatchObject({ available: 540, grants: [{ amount: 40, expiresAt: '2999-01-01T00:00:00.000Z' }] });
    // It accepts the times that it prints.
    const again = await credits('grant', ...live, '--credits', '1', '--expires', granted.grants[0].expiresAt);
    expect(liveOf(again.stdout)).toMatchObject({ available: 541 });
    expect(liveOf((await credits('adjust', ...live, '--credits=-21')).stdout)).toMatchObject({ available: 520 });
    expect(liveOf((await credits('show', organizationId)).stdout)).toMatchObject({ available: 520 });
  });

  it('the credits command books nothing more under the same reference', async () => {
    const { organizationId } = await createCustomer(orm, { live: 0, test: 0 });
    const words = [
      'top-up',
      organizationId,
      '--mode',
      'live',
      '--credits',
      '5',
      '--reason',
      'paid',
      '--reference',
      'i-17',
    ];
    await credits(...words);
    const again = await credits(...words);
    expect(again).toMatchObject({ status: 0, stderr: expect.stringContaining('i-17 is already booked') });
    expect(liveOf(again.stdout)).toMatchObject({ available: 5 });
  });

  it.each([
    ['mode', ['grant', 'ORG', '--mode', 'test', '--credits', '5', '--expires', '2999-01-01']],
    ['organisation', ['grant', 'OTHER', '--mode', 'live', '--credits', '5', '--expires', '2999-01-01']],
    ['number of credits', ['grant', 'ORG', '--mode', 'live', '--credits', '6', '--expires', '2999-01-01']],
    ['expiry', ['grant', 'ORG', '--mode', 'live', '--credits', '5', '--expires', '2999-01-02']],
    ['kind of booking', ['top-up', 'ORG', '--mode', 'live', '--credits', '5']],
    ['sign', ['adjust', 'ORG', '--mode', 'live', '--credits=-5']],
  ])('the credits command refuses a reference already used for another %s, and books nothing', async (what, words) => {
    const { organizationId } = await createCustomer(orm, { live: 0, test: 0 });
    const other = (await createCustomer(orm, { live: 0, test: 0 })).organizationId;
    const named = ['--reason', 'spring', '--reference', `spring-${what}`];
    const given = ['grant', organizationId, '--mode', 'live', '--credits', '5', '--expires', '2999-01-01', ...named];
    expect((await credits(...given)).status).toBe(0);
    const asked = words.map((word) => ({ ORG: organizationId, OTHER: other })[word] ?? word);
    expect(await credits(...asked, ...named)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`spring-${what} identifies another booking`),
    });
    expect(await credits(...given)).toMatchObject({ status: 0, stderr: expect.stringContaining('is already booked') });
    expect(await countRows(orm, 'credit_transfers', organizationId)).toBe(1);
    expect(await countRows(orm, 'credit_transfers', other)).toBe(0);
  });

  it.each([
    ['is missing', [], '--expires must be an ISO 8601 day or instant', 'it is missing'],
    [
      'does not exist',
      ['--expires', '2999-02-30'],
      'such as 2026-12-01 or 2026-12-01T09:30:00Z',
      '"2999-02-30" is not one',
    ],
    ['is in other words', ['--expires', '1.12.2999'], 'must be an ISO 8601 day', '"1.12.2999" is not one'],
    ['has passed', ['--expires', '2020-01-01'], 'must be in the future', '2020-01-01T00:00:00.000Z has passed'],
  ])('the credits command says what is wrong with an expiry that %s', async (_name, words, rule, fault) => {
    const { organizationId } = await createCustomer(orm, { live: 0, test: 0 });
    const { stderr } = await credits(
      'grant',
      organizationId,
      '--mode',
      'live',
      '--credits',
      '5',
      '--reason',
      'r',
      ...words,
    );
    expect(stderr).toContain(rule);
    expect(stderr).toContain(fault);
  });

  it.each([
    ['an organisation that does not exist', ['top-up', 'org_x', '--mode', 'live', '--credits', '5', '--reason', 'r']],
    ['no reason', ['top-up', 'ORG', '--mode', 'live', '--credits', '5']],
    ['no mode', ['top-up', 'ORG', '--credits', '5', '--reason', 'r']],
    ['a fraction', ['top-up', 'ORG', '--mode', 'live', '--credits', '1.5', '--reason', 'r']],
    ['a negative top-up', ['top-up', 'ORG', '--mode', 'live', '--credits=-5', '--reason', 'r']],
    ['a grant that never expires', ['grant', 'ORG', '--mode', 'live', '--credits', '5', '--reason', 'r']],
    [
      'an expiry in the past',
      ['grant', 'ORG', '--mode', 'live', '--credits', '5', '--reason', 'r', '--expires', '2020-01-01'],
    ],
    [
      'a day that does not exist',
      ['grant', 'ORG', '--mode', 'live', '--credits', '5', '--reason', 'r', '--expires', '2999-02-30'],
    ],
    ['more than there is', ['adjust', 'ORG', '--mode', 'live', '--credits=-5', '--reason', 'r']],
    ['another command', ['burn', 'ORG']],
  ])('the credits command refuses %s and books nothing', async (_name, words) => {
    const { organizationId } = await createCustomer(orm, { live: 0, test: 0 });
    const { status, stderr } = await credits(...words.map((word) => (word === 'ORG' ? organizationId : word)));
    expect(status).toBe(1);
    expect(stderr.trim()).not.toBe('');
    expect(await countRows(orm, 'credit_transfers', organizationId)).toBe(0);
  });
});
