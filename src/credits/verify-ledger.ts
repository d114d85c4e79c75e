/** `npm run -s ledger:verify`: prints every drift of the ledger; exits with status 1 when there is one. */
import { openDatabase } from '../database.ts';
import { readConfig } from '../platform/config/config.ts';
import { findLedgerDrift } from './ledger-store.ts';

const { DATABASE_URL } = readConfig('ledger:verify');
const orm = await openDatabase({ url: DATABASE_URL, poolSize: 1, statementTimeoutMs: null });
const findings = await findLedgerDrift(orm.em.fork());
await orm.close();
for (const finding of findings) console.log(finding);
console.log(findings.length === 0 ? 'the ledger holds' : `${findings.length} drifts`);
process.exitCode = findings.length === 0 ? 0 : 1;
