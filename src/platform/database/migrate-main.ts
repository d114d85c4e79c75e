/** `npm run migrate`: brings PostgreSQL up to date and registers the search attributes in Temporal. */
import { readConfig } from '../config/config.ts';
import { registerSearchAttributes } from '../temporal/search-attributes.ts';
import { migrate } from './migrate.ts';

const config = readConfig('migrate');
await migrate(config.DATABASE_URL);
await registerSearchAttributes(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE);
