/** Runs every command of the documentation in a shell next to a service started by `npm start`. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../src/embedded/ports.ts';
import type { ServiceDescription } from '../../src/embedded/service-description.ts';
import { PROJECT_DIRECTORY, type TestProcess, useProcesses } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { documents, type Snippet, snippetsOf } from './snippets.ts';

const PRINTED = '--- printed by the next snippet ---';
const runnable = documents()
  .map((document) => ({
    document,
    snippets: snippetsOf(document).filter(({ notRunBecause }) => notRunBecause === null),
  }))
  .filter(({ snippets }) => snippets.length > 0);

const processes = useProcesses();
const dataDirectory = mkdtempSync(join(tmpdir(), 'tour-'));
let service: TestProcess;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  service = await processes.start({
    entry: 'src/embedded/main.ts',
    environment: {
      DATA_DIRECTORY: dataDirectory,
      // A separate Temporal with Temporal Web, on free ports.
      TEMPORAL_ADDRESS: '',
      API_PORT: '0',
      POSTGRES_PORT: '0',
      TEMPORAL_PORT: '0',
      TEMPORAL_WEB_PORT: '0',
      IDENTITY_PORT: '0',
    },
    ready: { line: (line) => line.startsWith('Ctrl-C stops everything') },
    readyTimeoutMs: 240_000,
  });
  const description = JSON.parse(readFileSync(join(dataDirectory, 'service.json'), 'utf8')) as ServiceDescription;
  environment = {
    ...process.env,
    // With it Node would colour the numbers that programs print.
    FORCE_COLOR: undefined,
    DATA_DIRECTORY: dataDirectory,
    // Variables that the first snippet of the README sets and other pages rely on.
    BASE_URL: description.apiUrl,
    LIVE_KEY: description.keys.live,
    API_KEY: description.keys.test,
    // Snippets that need it set it themselves.
    DATABASE_URL: '',
  };
}, 300_000);
afterAll(async () => {
  await service.stop();
});

it('the README has a tour', () => {
  expect(runnable.map(({ document }) => document)).toContain('README.md');
});

it('the README names the endpoints that have no model, and those that answer live keys', async () => {
  const headers = { Authorization: `Bearer ${environment.LIVE_KEY}` };
  type Listed = { endpoint: string; available: boolean };
  const list = async () => {
    const answer = await fetch(`${environment.BASE_URL}/v1/endpoints`, { headers });
    return ((await answer.json()) as { data: Listed[] }).data;
  };
  const named = (text: string) =>
    [...text.matchAll(/`(\w+\.\w+|inspections)`/g)].map(([, slug = '']) => slug).toSorted();
  const [, live = '', none = ''] =
    /^- In live mode([\s\S]*?\.)\n(.*) (?:has|have) no model yet\.$/m.exec(
      readFileSync(join(PROJECT_DIRECTORY, 'README.md'), 'utf8'),
    ) ?? [];
  // A worker announces its endpoints once their models have loaded.
  await until(async () => (await list()).filter(({ available }) => available).length >= named(live).length, 240_000);
  const data = await list();
  const slugs = (available: boolean) =>
    data
      .filter((one) => one.available === available)
      .map(({ endpoint }) => endpoint)
      .toSorted();
  expect([named(live), named(none)]).toEqual([slugs(true), slugs(false)]);
}, 300_000);

describe.each(runnable)('$document', ({ snippets }) => {
  let printed: string[];

  beforeAll(async () => {
    printed = await paste(snippets);
  }, 300_000);

  it.each(snippets.map((snippet, index) => ({ ...snippet, index })))('$where prints as stated', ({ prints, index }) => {
    expect(printed[index]).toMatch(prints as RegExp);
  });
});

/** Runs snippets in one shell, as a reader pastes them, and returns the output of each, stderr included. */
async function paste(snippets: readonly Snippet[]): Promise<string[]> {
  const script = snippets
    .map(({ commands }) => `echo '${PRINTED}'\n${commands}`)
    .join('\necho\n')
    // What a reader of the quickstart fills in.
    .replaceAll('https://api.example.com', environment.BASE_URL ?? '')
    .replaceAll('chk_test_…', environment.API_KEY ?? '');
  const shell = spawn('bash', ['-c', `exec 2>&1\n${script}`], {
    cwd: PROJECT_DIRECTORY,
    // One port per page: failed deliveries to another page's receiver are retried.
    env: { ...environment, RECEIVER_PORT: String(await findFreePort()) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await new Promise((resolve) => shell.once('close', resolve));
  return output
    .split(`${PRINTED}\n`)
    .slice(1)
    .map((text) => text.trimEnd());
}
