/**
 * `node scripts/register-webhook.ts <organisation id> <live|test> <url>`: registers a receiver for every event of a mode
 * in the database of `DATABASE_URL`, and prints its id and signing secret. For receivers on a developer's machine, without
 * signing in. Unlike the management API it does not check the URL; the first delivery does.
 */
import { createDevelopmentWebhookEndpoint } from '../src/embedded/seed.ts';
import { readSealingKeys } from '../src/platform/config/config.ts';
import { createSealedSecrets } from '../src/platform/sealed-secrets.ts';

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
  sealedSecrets: createSealedSecrets(readSealingKeys()),
});
console.log(JSON.stringify(endpoint, null, 2));
