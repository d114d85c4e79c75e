/**
 * The programs that the documentation shows, run against the service in test mode: those in Markdown, page by page as one
 * program, and those that the pages of the endpoints generate.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findPythonsOfClient, isPythonInstalled } from '../../scripts/install-python-client.ts';
import { exampleCall } from '../../src/api/pages/endpoint-pages.ts';
import { type Call, snippetsOf as programsOf } from '../../src/api/pages/snippets.ts';
import { endpointBySlug, endpoints } from '../../src/endpoints/list.ts';
import { endpointPath } from '../../src/endpoints/shared/endpoint-path.ts';
import { startTestMode } from '../contract/service.ts';
import type { TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { describeWith } from '../support/needs.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { documents, type Snippet, snippetsOf } from './snippets.ts';

const MARK = '--- printed by the next snippet ---';
const PICTURE = join(PROJECT_DIRECTORY, 'training/examples/day-miles-seven-segment.jpg');
const TIMEOUT_MS = 300_000;
const python = findPythonsOfClient().filter(isPythonInstalled).at(-1)?.environmentPython ?? null;
const run = promisify(execFile);

/** Where a reader would work: with the clients installed, and a picture. */
const folder = mkdtempSync(join(tmpdir(), 'programs-'));
let api: TestApi;
let environment: NodeJS.ProcessEnv;
let testKey: string;

beforeAll(async () => {
  await installTypeScriptClient();
  copyFileSync(PICTURE, join(folder, 'dashboard.jpg'));
  api = await startTestMode({ hasOwnLinks: true });
  const { keys, organizationId } = await createCustomer(api.orm, { test: 1_000_000 });
  testKey = keys.test;
  const now = Math.floor(Date.now() / 1000);
  const lasting = { expiresAt: new Date((now + 3_500) * 1000), claims: { iat: now } };
  environment = {
    ...process.env,
    // With it Node would colour the numbers that programs print.
    FORCE_COLOR: undefined,
    BASE_URL: api.url,
    API_KEY: keys.test,
    MANAGEMENT_TOKEN: await api.identity.token({ organizationId }, lasting),
    WEBHOOK_SECRET: 'whsec_c2VjcmV0',
    PYTHONPATH: join(PROJECT_DIRECTORY, 'clients/python/src'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
}, TIMEOUT_MS);

afterAll(() => api.close());

/** As npm installs the packed client: what the compiler emits. */
async function installTypeScriptClient(): Promise<void> {
  const target = join(folder, 'node_modules/vehicle-inference-client');
  mkdirSync(target, { recursive: true });
  const tsc = join(PROJECT_DIRECTORY, 'node_modules/typescript/bin/tsc');
  const project = join(PROJECT_DIRECTORY, 'src/client/tsconfig.json');
  await run(process.execPath, [tsc, '--project', project, '--outDir', target], { cwd: PROJECT_DIRECTORY });
  cpSync(join(PROJECT_DIRECTORY, 'src/client/package.json'), join(target, 'package.json'));
}

const inTypeScript = async (name: string, program: string, cwd = folder): Promise<string> => {
  const file = join(folder, `${name}.mts`);
  writeFileSync(file, program);
  return (await run(process.execPath, [file], { cwd, env: environment })).stdout;
};

const inPython = async (name: string, program: string, cwd = folder): Promise<string> => {
  const file = join(folder, `${name}.py`);
  writeFileSync(file, program);
  return (await run(python ?? '', [file], { cwd, env: environment })).stdout;
};

const LANGUAGES = [
  { language: 'ts', mark: `console.log('${MARK}');\n`, runIn: inTypeScript, need: 'nothing' },
  { language: 'python', mark: `print('${MARK}', flush=True)\n`, runIn: inPython, need: 'pythonClient' },
] as const;

const isRun = ({ notRunBecause }: Snippet) => notRunBecause === null;

describe.each(LANGUAGES)('the pages with programs in $language', ({ language, mark, runIn, need }) => {
  const pages = documents()
    // The README of the Python client has a test of its own, on each Python.
    .filter((document) => !document.startsWith('clients/'))
    .map((document) => ({ document, snippets: snippetsOf(document, language).filter(isRun) }))
    .filter(({ snippets }) => snippets.length > 0);

  it('the quickstart and the pages on uploads and webhooks have programs in each language', () => {
    expect(pages.map(({ document }) => document)).toEqual(
      expect.arrayContaining(['docs/quickstart.md', 'docs/uploads.md', 'docs/webhooks.md']),
    );
  });

  describeWith(need, 'run', () => {
    it.each(pages)(
      'the programs of $document run and print what the page says',
      async ({ document, snippets }) => {
        const program = snippets.map(({ commands }) => mark + commands).join('\n');
        const printed = (await runIn(document.replace(/\W/g, '-'), program)).split(`${MARK}\n`).slice(1);
        for (const [index, { where, prints }] of snippets.entries()) {
          expect({ where, printed: printed[index]?.trimEnd() }).toEqual({
            where,
            printed: expect.stringMatching(prints ?? /./),
          });
        }
      },
      TIMEOUT_MS,
    );
  });
});

describe.each(endpoints.map(({ slug }) => ({ slug })))('the page of $slug', ({ slug }) => {
  const cwd = join(PROJECT_DIRECTORY, 'src/endpoints', slug, 'fixtures');

  /** The programs, with the id of a real job where a reader puts one. */
  async function programs(): Promise<Record<keyof ReturnType<typeof programsOf>, string>> {
    const call = exampleCall(endpointBySlug(slug), api.url);
    const shown = programsOf(call);
    const { jobReferences = [] } = endpointBySlug(slug);
    for (const { parameter, endpoints: producers } of jobReferences) {
      const placeholder = call.parameters[parameter];
      if (typeof placeholder !== 'string') continue;
      const id = await settledJob(producers[0] ?? '');
      for (const name of ['curl', 'TypeScript', 'Python'] as const)
        shown[name] = shown[name].replaceAll(placeholder, id);
    }
    return shown;
  }

  it(
    `the page of ${slug} shows calls with ${python === null ? 'curl and TypeScript' : 'curl, TypeScript and Python'} that all succeed`,
    async () => {
      const { curl, TypeScript, Python } = await programs();
      const inShell = run('bash', ['-euo', 'pipefail', '-c', curl], { cwd: cwd, env: environment });
      const [{ stdout }, ofTypeScript, ofPython] = await Promise.all([
        inShell,
        inTypeScript(`${slug}-call`, TypeScript, cwd),
        python === null ? null : inPython(`${slug}-call`, Python, cwd),
      ]);
      expect(JSON.parse(stdout)).toMatchObject({ object: 'job', endpoint: slug });
      // A job that the call waited for has ended well; `run` of the clients throws otherwise.
      expect(['queued', 'processing', 'succeeded']).toContain((JSON.parse(stdout) as { status: string }).status);
      expect(ofTypeScript).toMatch(/^\{/);
      if (ofPython !== null) expect(ofPython).toMatch(/Result\(/);
    },
    TIMEOUT_MS,
  );
});

async function settledJob(slug: string): Promise<string> {
  const call: Call = exampleCall(endpointBySlug(slug), api.url);
  const body = new FormData();
  for (const name of call.fileNames) {
    const content = readFileSync(join(PROJECT_DIRECTORY, 'src/endpoints', slug, 'fixtures', name));
    body.append(call.field, new Blob([content], { type: 'image/jpeg' }), name);
  }
  const { job } = await api.call(endpointPath(slug), { method: 'POST', key: testKey, body });
  await api.temporal.client.workflow.getHandle(job.id).result();
  return job.id;
}
