/**
 * `npm run -s releases -- <command>`: lets an operator choose the releases of models in the database of `DATABASE_URL`. Prints
 * JSON; exits with status 1 on invalid input.
 */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openDatabase } from '../database.ts';
import { endpoints } from '../endpoints/list.ts';
import { pipelineUrl } from '../inference/toolkit/endpoint-folder.ts';
import { readInstalledEndpoints } from '../jobs/installed-endpoints-store.ts';
import { readConfig } from '../platform/config/config.ts';
import type { EntityManager } from '../platform/database/orm.ts';
import { beginTrial, forgetChoice, listChoices, promoteTrial, rollBack } from './release-choices-store.ts';
import { reportOn } from './shadow-runs-store.ts';

const USAGE = `usage:
  npm run -s releases -- list
  npm run -s releases -- shadow <endpoint> <model>@<release> --share <percent>
  npm run -s releases -- canary <endpoint> <model>@<release> --share <percent>
  npm run -s releases -- show <endpoint> [<model>@<release>] [--field <name>]
  npm run -s releases -- promote <endpoint>
  npm run -s releases -- rollback <endpoint>
  npm run -s releases -- newest <endpoint>
Workers follow within seconds. docs/models.md describes trials of releases.`;

interface Words {
  release: string | undefined;
  share: string | undefined;
  field: string | undefined;
}

const COMMANDS: Readonly<Record<string, (em: EntityManager, endpoint: string, words: Words) => Promise<unknown>>> = {
  shadow: (em, endpoint, words) => tryOut(em, endpoint, 'shadow', words),
  canary: (em, endpoint, words) => tryOut(em, endpoint, 'canary', words),
  show: async (em, endpoint, { release, field }) => ({
    choice: (await listChoices(em)).find((choice) => choice.endpoint === endpoint) ?? null,
    shadow: await reportOn(em, { endpoint, modelVersion: release ?? null, field: field ?? null }),
  }),
  promote: async (em, endpoint) =>
    known(await promoteTrial(em, endpoint), `No release of ${endpoint} is tried, or no worker has it. See "list".`),
  rollback: async (em, endpoint) =>
    known(await rollBack(em, endpoint), `No release of ${endpoint} is tried, and none was promoted. See "list".`),
  newest: async (em, endpoint) => {
    known(await forgetChoice(em, endpoint), `The newest release of ${endpoint} serves already.`);
    return { endpoint, serving: 'newest' };
  },
};

async function tryOut(
  em: EntityManager,
  endpoint: string,
  mode: 'shadow' | 'canary',
  { release = '', share = '' }: Words,
): Promise<unknown> {
  if (!/^[a-z0-9-]+@\d{4}-\d{2}-\d{2}$/.test(release)) throw new Error(USAGE);
  if (!/^(?:[1-9]\d?|100)$/.test(share)) throw new Error('--share must be a whole number of percent from 1 to 100.');
  if (!existsSync(pipelineUrl(new URL('../endpoints/', import.meta.url), endpoint))) {
    throw new Error(`${endpoint} runs no model of its own. Try the releases of the endpoints that it combines.`);
  }
  const choice = await beginTrial(em, endpoint, { modelVersion: release, mode, sharePercent: Number(share) });
  return known(choice, `${release} serves ${endpoint} already, or no worker serves it. See "list".`);
}

/** Every endpoint that a worker serves, with its builds and what was chosen. */
async function list(em: EntityManager): Promise<unknown> {
  const choices = new Map((await listChoices(em)).map((choice) => [choice.endpoint, choice]));
  const installed = [...(await readInstalledEndpoints(em))].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return installed.map(([endpoint, [serving, ...others]]) => ({
    endpoint,
    serving,
    others,
    choice: choices.get(endpoint) ?? null,
  }));
}

function known<Found>(found: Found | null, problem: string): Found {
  if (found === null) throw new Error(problem);
  return found;
}

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { share: { type: 'string' }, field: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return console.log(USAGE);
  const { DATABASE_URL } = readConfig('releases');
  const [command = '', endpoint, release] = positionals;
  const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (command !== 'list' && (!run || endpoint === undefined)) throw new Error(USAGE);
  if (endpoint !== undefined && !endpoints.some(({ slug }) => slug === endpoint)) {
    throw new Error(`There is no endpoint ${endpoint}.`);
  }
  // A report counts the runs of weeks.
  const orm = await openDatabase({ url: DATABASE_URL, poolSize: 1, statementTimeoutMs: null });
  try {
    const em = orm.em.fork();
    const words = { release, share: values.share, field: values.field };
    console.log(JSON.stringify(await (run && endpoint !== undefined ? run(em, endpoint, words) : list(em)), null, 2));
  } finally {
    await orm.close();
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
