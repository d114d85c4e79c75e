/**
 * `npm run -s credits -- <command>`: lets an operator change balances in the database of `DATABASE_URL`. Prints both
 * balances afterwards; exits with status 1 on invalid input.
 */
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { MAXIMUM_CREDITS, type TransferKind } from '../contracts/credits.ts';
import { openDatabase } from '../database.ts';
import { Organization } from '../organizations/entities.ts';
import { readTimeOption } from '../platform/iso-time.ts';
import { type OperatorCommand, runAsProgram } from '../platform/operator-command.ts';
import { readCreditBalances } from './credit-balances-store.ts';
import { adjustCredits, findBooking, topUp } from './credit-bookings-store.ts';
import { grantPromotion } from './credit-grants-store.ts';

const USAGE = `usage:
  npm run -s credits -- show <organisation id>
  npm run -s credits -- top-up <organisation id> --mode <live|test> --credits <number> --reason <why>
  npm run -s credits -- grant <organisation id> --mode <live|test> --credits <number> --expires <time> --reason <why>
  npm run -s credits -- adjust <organisation id> --mode <live|test> --credits=<number, also below zero> --reason <why>
--reference <text> identifies the booking: repeating the command with it books nothing more.
A time is an ISO 8601 day or instant: 2026-12-01 or 2026-12-01T09:30:00Z.`;

/** The transfer that each command books. */
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
    throw new Error(`--credits must be a whole number from ${least} to ${MAXIMUM_CREDITS} other than 0.`);
  }
  return credits;
}

function readExpiry(text: string | undefined, now: Date): Date {
  const time = readTimeOption('--expires', text);
  if (time <= now) throw new Error(`--expires must be in the future; ${time.toISOString()} has passed.`);
  return time;
}

export const creditsCommand: OperatorCommand = async (words, { databaseUrl, now, print, note }) => {
  const { positionals, values } = parseArgs({
    args: [...words],
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
  const orm = await openDatabase({ url: databaseUrl, poolSize: 1 });
  try {
    const em = orm.em.fork();
    if (!(await em.findOne(Organization, { id: organizationId }))) {
      throw new Error(`There is no organisation ${organizationId}.`);
    }
    if (command !== 'show') {
      const livemode = readMode(values.mode);
      const amount = readCredits(values.credits, command === 'adjust');
      const { reason, reference: externalReference } = values;
      if (!reason) throw new Error('--reason is required: the customer reads it in the ledger.');
      const booking = { organizationId, livemode, reason, externalReference };
      const expiresAt = command === 'grant' ? readExpiry(values.expires, now) : null;
      const isNew =
        command === 'top-up'
          ? await topUp(em, { ...booking, amount })
          : expiresAt
            ? await grantPromotion(em, { ...booking, amount, now, expiresAt })
            : await adjustCredits(em, { ...booking, change: amount });
      if (!isNew && externalReference !== undefined) {
        const requested = { organizationId, livemode, kind: KINDS[command], change: amount, expiresAt };
        const booked = await findBooking(em, externalReference);
        if (!isDeepStrictEqual(booked, requested)) {
          throw new Error(
            `Nothing was booked: ${externalReference} identifies another booking, ${JSON.stringify(booked)}. ` +
              'Use a different --reference.',
          );
        }
        note(`${externalReference} is already booked; nothing was booked.`);
      }
    }
    print(JSON.stringify(await readCreditBalances(em, organizationId), null, 2));
  } finally {
    await orm.close();
  }
};

if (import.meta.main) await runAsProgram(creditsCommand, 'credits');
