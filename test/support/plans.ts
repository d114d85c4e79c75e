/** The plans of the statements that a database runs, those within its procedures too. */
import pg from 'pg';
import type { MikroORM } from '../../src/platform/database/orm.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}

const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': 0,
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  'auto_explain.log_level': 'notice',
  // Small tables too are read from their beginning to their end only where no index helps.
  enable_seqscan: 'off',
  // Scans of the same indexes, which the number of rows decides on.
  enable_bitmapscan: 'off',
  enable_indexonlyscan: 'off',
  jit: 'off',
};

/** Makes later sessions of a database tell each plan as a notice. */
export async function explainAll(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const name = new URL(databaseUrl).pathname.slice(1);
    for (const [setting, value] of Object.entries(SETTINGS)) {
      await client.query(`alter database ${name} set ${setting} = ${value}`);
    }
  } finally {
    await client.end();
  }
}

/** Calls `listener` with each plan of the one connection to such a database, as its scans and what they need besides. */
export async function watchPlans(orm: MikroORM, listener: (scans: readonly string[]) => void): Promise<void> {
  const pool = await orm.em.getConnection().getNativeClient();
  const client = await pool.connect();
  client.on('notice', ({ message }) => {
    const explained = /plan:\s*(\{.*\})\s*$/s.exec(message ?? '')?.[1];
    if (explained) listener(scansOf((JSON.parse(explained) as { Plan: PlanNode }).Plan));
  });
  client.release();
}

function scansOf(node: PlanNode): string[] {
  const below = (node.Plans ?? []).flatMap(scansOf);
  const { 'Node Type': type, 'Relation Name': table, 'Index Name': index } = node;
  if (index) return [index, ...below];
  if (type === 'Seq Scan') return [`all of ${table}`, ...below];
  // An incremental sort holds the rows that are equal in what is sorted already.
  if (type === 'Sort') return ['sorted', ...below];
  return below;
}
