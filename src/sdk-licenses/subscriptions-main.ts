/**
 * `npm run -s subscriptions -- <command>`: records SDK subscriptions from the operator's payment integration in the
 * database of `DATABASE_URL`. Prints the subscription afterwards; exits with status 1 on invalid input.
 */
import { parseArgs } from 'node:util';
import { openDatabase } from '../database.ts';
import { Organization } from '../organizations/entities.ts';
import { ORGANIZATION_ID } from '../organizations/organization-id.ts';
import { readTimeOption } from '../platform/iso-time.ts';
import { type OperatorCommand, runAsProgram } from '../platform/operator-command.ts';
import { cancelSubscription, readSubscription, setPaidPeriod } from './sdk-subscriptions-store.ts';

const USAGE = `usage:
  npm run -s subscriptions -- show <organisation id>
  npm run -s subscriptions -- set <organisation id> --from <time> --until <time> --max-sdks <number>
  npm run -s subscriptions -- cancel <organisation id>
A time is an ISO 8601 day or instant: 2026-12-01 or 2026-12-01T09:30:00Z.`;

export const subscriptionsCommand: OperatorCommand = async (words, { databaseUrl, now, print }) => {
  const { positionals, values } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: { from: { type: 'string' }, until: { type: 'string' }, 'max-sdks': { type: 'string' } },
  });
  const [command, organizationId] = positionals;
  if (!organizationId || !ORGANIZATION_ID.test(organizationId)) throw new Error(USAGE);
  const orm = await openDatabase({ url: databaseUrl, poolSize: 1 });
  try {
    const em = orm.em.fork();
    if (command === 'set') {
      const period = {
        paidFrom: readTimeOption('--from', values.from),
        paidUntil: readTimeOption('--until', values.until),
      };
      if (period.paidFrom >= period.paidUntil) throw new Error('--from must come before --until.');
      const maxSdks = Number(values['max-sdks'] ?? Number.NaN);
      if (!Number.isInteger(maxSdks) || maxSdks < 0 || maxSdks > 1_000) {
        throw new Error('--max-sdks must be a whole number from 0 to 1000.');
      }
      if (!(await em.findOne(Organization, { id: organizationId }))) {
        throw new Error(
          `There is no organisation ${organizationId}. It is created when one of its members calls ` +
            'GET /mgmt/v1/organization or makes a change through the management API.',
        );
      }
      await setPaidPeriod(em, organizationId, { ...period, maxSdks });
    } else if (command === 'cancel') {
      if (!(await cancelSubscription(em, organizationId, now))) throw new Error('There is no subscription.');
    } else if (command !== 'show') {
      throw new Error(USAGE);
    }
    print(JSON.stringify(await readSubscription(em, organizationId), null, 2));
  } finally {
    await orm.close();
  }
};

if (import.meta.main) await runAsProgram(subscriptionsCommand, 'subscriptions');
