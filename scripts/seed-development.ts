/**
 * `node scripts/seed-development.ts`: creates an organisation with a live, a staging and a test key, 1,000,000 credits in
 * each mode and a year of two SDKs in the database of `DATABASE_URL`. Prints the keys, which are stored nowhere.
 */
import { seedDevelopment } from '../src/embedded/seed.ts';

const databaseUrl = process.env.DATABASE_URL;
if (!databaseUrl) {
  console.error('DATABASE_URL is missing: PostgreSQL, as postgres://user:password@host:port/database.');
  process.exit(1);
}
console.log(JSON.stringify(await seedDevelopment(databaseUrl), null, 2));
