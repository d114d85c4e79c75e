/**
 * `node scripts/register-webhook.ts <organisation id> <live|test> <url>`: registers a receiver for every event of a mode
 * in the database of `DATABASE_URL`, and prints its id and signing secret. It stands in for the management interface,
 * which is to check the URL as well: here, a URL that deliveries refuse is found out by the first of them.
 */
import { createDevelopmentWebhookEndpoint } from '../src/db/seed.ts';

const databaseUrl = process.env.DATABASE_URL;
const [organizationId, mode, url] = process.argv.slice(2);
if (!databaseUrl || !organizationId || (mode !== 'live' && mode !== 'test') || !url || !URL.canParse(url)) {
  console.error(
    'usage: DATABASE_URL=postgres://… node scripts/register-webhook.ts <organisation id> <live|test> <url>',
  );
  process.exit(1);
}
const endpoint = await createDevelopmentWebhookEndpoint(databaseUrl, {
  organizationId,
  url,
  livemode: mode === 'live',
});
console.log(JSON.stringify(endpoint, null, 2));
