/** `npm run -s ledger:verify`: prints every drift of the ledger; exit status 1 when there is one. */
import { readConfig } from '../../config/config.ts';
import { openDatabase } from '../orm.ts';
import { findLedgerDrift } from './ledger.ts';

const { DATABASE_URL } = readConfig('ledger:verify');
const orm = await openDatabase({ url: DATABASE_URL, poolSize: 1 });
const findings = await findLedgerDrift(orm.em.fork());
await orm.close();
for (const finding of findings) console.log(finding);
console.log(findings.length === 0 ? 'the ledger holds' : `${findings.length} drifts`);
process.exitCode = findings.length === 0 ? 0 : 1;
