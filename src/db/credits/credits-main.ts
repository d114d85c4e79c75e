/**
 * `npm run -s credits -- <command>`: what an operator does with balances by hand, in the database of `DATABASE_URL`. It
 * prints both balances as they are then; exit status 1 when it was told something wrong.
 */
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { readConfig } from '../../config/config.ts';
import { MAXIMUM_CREDITS, type TransferKind } from '../../contracts/credits.ts';
import { Organization } from '../entities.ts';
import { parseIsoTime } from '../iso-time.ts';
import { openDatabase } from '../orm.ts';
import { readCreditBalances } from './credit-balances.ts';
import { grantPromotion } from './credit-grants.ts';
import { adjustCredits, findBooking, topUp } from './credits.ts';

const USAGE = `usage:
  npm run -s credits -- show <organisation id>
  npm run -s credits -- top-up <organisation id> --mode <live|test> --credits <number> --reason <why>
  npm run -s credits -- grant <organisation id> --mode <live|test> --credits <number> --expires <time> --reason <why>
  npm run -s credits -- adjust <organisation id> --mode <live|test> --credits=<number, also below zero> --reason <why>
--reference <text> names what is booked: the same booking with the same one is booked once.
A time is a day or an instant of ISO 8601: 2026-12-01 or 2026-12-01T09:30:00Z.`;

/** By command, what it books. */
const KINDS: Record<string, TransferKind> = { 'top-up': 'top_up', grant: 'promotion', adjust: 'adjustment' };
const COMMANDS = ['show', ...Object.keys(KINDS)];

function readMode(mode: string | undefined): boolean {
  if (mode !== 'live' && mode !== 'test') throw new Error('--mode must be live or test.');
  return mode === 'live';
}

function readCredits(text: string | undefined, mayBeNegative: boolean): number {
  const credits = Number(text ?? Number.NaN);
  const least = mayBeNegative ? -MAXIMUM_CREDITS : 1;
  if (!Number.isInteger(credits) || credits === 0 || credits < least || credits > MAXIMUM_CREDITS) {
    throw new Error(`--credits must be a whole number from ${least} to ${MAXIMUM_CREDITS}, and not 0.`);
  }
  return credits;
}

function readExpiry(text: string | undefined, now: Date): Date {
  const time = parseIsoTime(text ?? '');
  if (time === null || time <= now) {
    throw new Error('--expires must be a time to come, such as 2026-12-01.');
  }
  return time;
}

async function main(now: Date): Promise<void> {
  const { DATABASE_URL } = readConfig('credits');
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      mode: { type: 'string' },
      credits: { type: 'string' },
      expires: { type: 'string' },
      reason: { type: 'string' },
      reference: { type: 'string' },
    },
  });
  const [command, organizationId] = positionals;
  if (command === undefined || organizationId === undefined || !COMMANDS.includes(command)) throw new Error(USAGE);
  const orm = await openDatabase({ url: DATABASE_URL, poolSize: 1 });
  try {
    const em = orm.em.fork();
    if (!(await em.findOne(Organization, { id: organizationId }))) {
      throw new Error(`There is no organisation ${organizationId}.`);
    }
    if (command !== 'show') {
      const livemode = readMode(values.mode);
      const amount = readCredits(values.credits, command === 'adjust');
      const { reason, reference: externalReference } = values;
      if (!reason) throw new Error('--reason must say why: the customer reads it in the ledger.');
      const booking = { organizationId, livemode, reason, externalReference };
      const expiresAt = command === 'grant' ? readExpiry(values.expires, now) : null;
      const isNew =
        command === 'top-up'
          ? await topUp(em, { ...booking, amount })
          : expiresAt
            ? await grantPromotion(em, { ...booking, amount, now, expiresAt })
            : await adjustCredits(em, { ...booking, change: amount });
      if (!isNew && externalReference !== undefined) {
        const asked = { organizationId, livemode, kind: KINDS[command], change: amount, expiresAt };
        const booked = await findBooking(em, externalReference);
        if (!isDeepStrictEqual(booked, asked)) {
          throw new Error(
            `Nothing was booked: ${externalReference} names another booking, ${JSON.stringify(booked)}. ` +
              'Give this one a --reference of its own.',
          );
        }
        console.error(`${externalReference} was booked before: nothing was booked.`);
      }
    }
    console.log(JSON.stringify(await readCreditBalances(em, organizationId), null, 2));
  } finally {
    await orm.close();
  }
}

await main(new Date()).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
