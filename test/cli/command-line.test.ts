/** The program `vis` against a running service in test mode: every command, and everything that may go wrong. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifyWebhook } from '../../src/client/index.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { startTestMode } from '../contract/service.ts';
import type { TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { countRows } from '../support/jobs.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const PICTURE = join(PROJECT_DIRECTORY, 'training/examples/day-miles-seven-segment.jpg');
const LARGE_BYTES = 8 * 1024 * 1024 + 1000;
const folder = mkdtempSync(join(tmpdir(), 'vis-'));

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  // Long enough for Ctrl-C to find the job under way.
  api = await startTestMode({ slowScenarioMs: 600_000, hasOwnLinks: true });
  customer = await createCustomer(api.orm);
});

afterAll(async () => {
  await api.close();
});

interface Ended {
  code: number | null;
  out: string;
  notes: string;
}

interface Run {
  ended: Promise<Ended>;
  interrupt(): void;
  /** Resolves once the program has written so; rejects if it ends first. */
  wrote(pattern: RegExp): Promise<RegExpExecArray>;
}

function start(line: string[], variables: NodeJS.ProcessEnv = {}, input = ''): Run {
  const program = spawn(process.execPath, [join(PROJECT_DIRECTORY, 'src/cli/main.ts'), ...line], {
    env: {
      ...process.env,
      VIS_CONFIG: join(folder, 'settings.json'),
      VIS_BASE_URL: api.url,
      VIS_API_KEY: customer.keys.test,
      VIS_TOKEN: undefined,
      ...variables,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A program that refuses its words has ended before it reads.
  program.stdin.on('error', () => {});
  program.stdin.end(input);
  let [out, notes] = ['', ''];
  const watchers = new Set<() => void>();
  const look = () => {
    for (const watch of watchers) watch();
  };
  program.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    look();
  });
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    notes += text;
    look();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    program.once('error', reject).once('close', (code) => resolve({ code, out, notes }));
  });
  return {
    ended,
    interrupt: () => program.kill('SIGINT'),
    wrote: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = () => {
          const match = pattern.exec(out + notes);
          if (match) resolve(match);
        };
        watchers.add(watch);
        watch();
        void ended.then(() => reject(new Error(`ended without ${pattern}: ${out}${notes}`)));
      }),
  };
}

const vis = (line: string[], variables?: NodeJS.ProcessEnv, input?: string) => start(line, variables, input).ended;
const ok = (out: unknown) => ({ code: 0, out, notes: expect.any(String) });

describe('run', () => {
  it('vis run shows progress, facts and the result to people', async () => {
    const { code, out, notes } = await vis(['run', 'dashboard.read', PICTURE, '--set', 'unit_hint=mi']);
    expect(out).toMatch(
      /^ID +ENDPOINT +STATUS +CREDITS +MODEL\njob_\w+ +dashboard\.read +succeeded +20 of 20 +fixture@/,
    );
    expect(out).toContain('"odometer": {');
    expect(notes).toMatch(/job_\w+: succeeded/);
    expect(code).toBe(0);
  });

  it('vis run gives machines the job in one line', async () => {
    const { code, out } = await vis(['run', 'dashboard.read', PICTURE, '--json']);
    expect(JSON.parse(out)).toMatchObject({ object: 'job', status: 'succeeded' });
    expect({ code, lines: out.split('\n').length }).toEqual({ code: 0, lines: 2 });
  });

  it('vis run returns the price, or leaves without waiting', async () => {
    expect(await vis(['run', 'dashboard.read', PICTURE, '--dry-run'])).toEqual(
      ok(expect.stringMatching(/^dashboard\.read would hold 20 of \d+ credits\n$/)),
    );
    expect(await vis(['run', 'vehicle.identify', PICTURE, PICTURE, '--no-wait'])).toEqual(
      ok(expect.stringMatching(/vehicle\.identify +(queued|processing|succeeded)/)),
    );
  });

  it('vis run ends with code 6 when the job has no result', async () => {
    const { code, out } = await vis(['run', 'dashboard.read', PICTURE, '--scenario', 'model_error']);
    expect({ code, out }).toEqual({ code: 6, out: expect.stringMatching(/failed[\s\S]*model_inference_failed: /) });
  });

  it('vis run uploads a large file with progress; an upload that breaks off creates no job, and resumes', async () => {
    const large = largeFile();
    const other = await createCustomer(api.orm);
    const breaking = await startProxy((request) => (isLaterPart(request) ? 'break' : 'pass'));
    const line = ['run', 'dashboard.read', large, '--base-url', breaking.url];
    const broken = await vis(line, { VIS_API_KEY: other.keys.test });
    expect(broken.code).toBe(5);
    expect(broken.notes).toMatch(
      /uploading large\.jpg: 0\.0 of 8\.4 MB[\s\S]*broke off: 8\.4 of 8\.4 MB arrived\. No job was created\./,
    );
    expect(await countRows(api.orm, 'jobs', other.organizationId)).toBe(0);
    const upload = /--resume (upl_\w+)/.exec(broken.notes)?.[1] ?? '';
    breaking.close();
    const mistaken = await vis(['run', 'dashboard.read', PICTURE, '--resume', upload], {
      VIS_API_KEY: other.keys.test,
    });
    expect(mistaken).toMatchObject({
      code: 2,
      notes: expect.stringMatching(/^vis: upl_\w+ is of a file of 8389608 bytes; day-miles\S+ has \d+\.\n$/),
    });
    const resumed = await vis(['run', 'dashboard.read', large, '--resume', upload, '--json'], {
      VIS_API_KEY: other.keys.test,
    });
    // The fixture of test mode reads no picture; the file ends early, as the padding is none.
    expect(JSON.parse(resumed.out)).toMatchObject({ object: 'job', endpoint: 'dashboard.read' });
    expect(await countRows(api.orm, 'jobs', other.organizationId)).toBe(1);
  });

  it('Ctrl-C in mid-upload creates no job, and says how to go on', async () => {
    const other = await createCustomer(api.orm);
    let hold = () => {};
    const isHeld = new Promise<void>((resolve) => {
      hold = resolve;
    });
    const holding = await startProxy((request) => {
      if (!isLaterPart(request)) return 'pass';
      hold();
      return 'hold';
    });
    const run = start(['run', 'dashboard.read', largeFile(), '--base-url', holding.url], {
      VIS_API_KEY: other.keys.test,
    });
    await isHeld;
    run.interrupt();
    const { code, out, notes } = await run.ended;
    holding.close();
    expect({ code, out, notes }).toEqual({
      code: 130,
      out: '',
      notes: expect.stringMatching(/broke off: 8\.4 of 8\.4 MB arrived\. No job was created\.\n.*--resume upl_\w+\n$/),
    });
    expect(await countRows(api.orm, 'jobs', other.organizationId)).toBe(0);
  });

  it('Ctrl-C leaves a job that is under way, and says how to see it', async () => {
    const run = start(['run', 'dashboard.read', PICTURE, '--scenario', 'slow']);
    const [, id] = await run.wrote(/(job_\w+): processing/);
    run.interrupt();
    const { code, notes } = await run.ended;
    expect({ code, notes }).toEqual({ code: 130, notes: expect.stringContaining(`vis jobs watch ${id}`) });
  });
});

describe('errors', () => {
  const nameless = join(folder, 'nameless');
  writeFileSync(nameless, Buffer.alloc(LARGE_BYTES));
  const refused: [string, string[], NodeJS.ProcessEnv, number, RegExp][] = [
    ['no server', ['endpoints'], { VIS_BASE_URL: 'http://127.0.0.1:9' }, 5, /^vis: no response from 127\.0\.0\.1:9\./],
    ['a wrong key', ['endpoints'], { VIS_API_KEY: 'chk_test_wrong' }, 4, /invalid_api_key/],
    ['a file that is no picture', ['run', 'dashboard.read', 'README.md'], {}, 3, /unsupported_media_type \(image\)/],
    ['a missing file', ['run', 'dashboard.read', 'none.jpg'], {}, 2, /^vis: none\.jpg: there is no such file\n$/],
    ['no file', ['run', 'dashboard.read'], {}, 3, /^vis: .* Name a file: vis run <endpoint> photo\.jpg\n/],
    ['a folder', ['run', 'dashboard.read', 'docs'], {}, 2, /^vis: docs: is not a file\n$/],
    [
      'an upload of no known type',
      ['run', 'vin.read', nameless],
      {},
      2,
      /^vis: nameless: .* must end in one of \.jpg, /,
    ],
    ['an unknown endpoint', ['run', 'dashbord.read', PICTURE], {}, 2, /^vis: There is no endpoint dashbord\.read/],
    ['two files for one', ['run', 'dashboard.read', PICTURE, PICTURE], {}, 2, /takes one file, not 2/],
    ['a wrong parameter', ['run', 'dashboard.read', PICTURE, '--set', 'unit_hint=miles'], {}, 3, /parameter_invalid/],
    ['an unknown job', ['jobs', 'show', 'job_1CoTsd5kMvWzrNbUoFgrYo'], {}, 3, /resource_not_found/],
    ['no token', ['keys', 'list'], {}, 2, /VIS_TOKEN/],
    ['half a token', ['keys', 'list'], { VIS_TOKEN: 'eyJ…' }, 2, /^vis: This is not a whole token: copy it again\.\n$/],
    ['the key of an example', ['endpoints'], { VIS_API_KEY: 'chk_test_…' }, 2, /^vis: This is not a whole API key: /],
    ['no key', ['endpoints'], { VIS_API_KEY: undefined, VIS_CONFIG: '/nowhere/settings.json' }, 2, /Run: vis login/],
    ['a live key that would spend', ['trigger', 'job.failed'], { VIS_API_KEY: 'chk_live_x' }, 2, /test key only/],
    ['no address to forward to', ['listen'], {}, 2, /--forward-to localhost:3000/],
  ];
  it.each(refused)(
    'an error is shown in one message with its exit code: %s',
    async (_, line, variables, code, text) => {
      const ended = await vis(line, variables);
      expect(ended).toEqual({ code, out: '', notes: expect.stringMatching(text) });
      expect(ended.notes).not.toContain('    at ');
    },
  );
});

describe('completions', () => {
  it.each([
    ['jobs li', 'list'],
    ['run dashb', 'dashboard.read'],
    ['jobs list --status que', 'queued'],
  ])('bash completes "vis %s"', async (line, expected) => {
    const script = `
      vis() { "$NODE" "$PROGRAM" "$@"; }
      source <(vis completions bash)
      COMP_WORDS=(vis ${line}) COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _vis
      echo "\${COMPREPLY[@]}"`;
    const shell = spawn('bash', ['-euc', script], {
      env: { ...process.env, NODE: process.execPath, PROGRAM: join(PROJECT_DIRECTORY, 'src/cli/main.ts') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    await new Promise((resolve) => shell.once('close', resolve));
    expect(out).toBe(`${expected}\n`);
  });
});

describe('login', () => {
  const settings = join(folder, 'login.json');
  const variables = { VIS_CONFIG: settings, VIS_API_KEY: undefined };

  it('vis login keeps no key that does not work', async () => {
    expect((await vis(['login'], variables, 'chk_test_wrong\n')).code).toBe(4);
    expect(existsSync(settings)).toBe(false);
  });

  it('vis login keeps a key that works where only its user reads it, until logout', async () => {
    const { code, out } = await vis(['login'], variables, `${customer.keys.test}\n`);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/with the test key key_\w+ of org_\w+\.\n$/) });
    expect(out).not.toContain(customer.keys.test);
    expect(statSync(settings).mode & 0o777).toBe(0o600);
    const alone = { ...variables, VIS_BASE_URL: undefined };
    expect((await vis(['keys', 'show'], alone)).out).toMatch(/key_\w+ +org_\w+ +test/);
    await vis(['logout'], alone);
    expect((await vis(['keys', 'show'], alone)).code).toBe(2);
  });
});

describe('lists', () => {
  it('vis jobs shows tables to people and lines to machines', async () => {
    await vis(['run', 'dashboard.read', PICTURE]);
    const people = await vis(['jobs', 'list', '--limit', '2', '--status', 'succeeded']);
    expect(people.out).toMatch(
      /^ID +ENDPOINT +STATUS +CREDITS +CREATED \(UTC\)\n(job_\w+ +[\w.]+ +succeeded +\d+ +\d{4}-.*\n){1,2}$/,
    );
    const machines = await vis(['jobs', 'list', '--limit', '1', '--json']);
    const job = JSON.parse(machines.out);
    expect(job).toMatchObject({ object: 'job' });
    expect((await vis(['jobs', 'show', job.id, '--json'])).out).toContain(job.id);
    expect(await vis(['jobs', 'watch', job.id])).toMatchObject({ out: expect.stringContaining(job.id) });
    expect(await vis(['jobs', 'cancel', job.id])).toMatchObject({
      code: 3,
      notes: expect.stringContaining('job_not_cancelable'),
    });
  });

  it('vis endpoints and vis models list what the service offers', async () => {
    expect((await vis(['endpoints'])).out).toMatch(/^ENDPOINT .*[\s\S]*^dashboard\.read +.* +20 +yes +yes$/m);
    expect((await vis(['models'])).out).toMatch(/^dashboard\.read +fixture@[\d-]+ +yes$/m);
  });

  it('vis keys lists keys with a token; a made key works until it is revoked', async () => {
    const VIS_TOKEN = await tokenOf(customer);
    const made = JSON.parse((await vis(['keys', 'create', 'Laptop', '--json'], { VIS_TOKEN })).out);
    expect((await vis(['keys', 'list'], { VIS_TOKEN })).out).toMatch(
      new RegExp(`^${made.id} +Laptop +chk_test_\\S+ +test +active`, 'm'),
    );
    const own = { VIS_API_KEY: made.secret };
    expect((await vis(['keys', 'show'], own)).out).toContain(made.id);
    expect((await vis(['keys', 'revoke', made.id], { VIS_TOKEN })).out).toContain('revoked');
    expect((await vis(['keys', 'show'], own)).code).toBe(4);
  });
});

describe('listen', () => {
  it('vis listen forwards each event once, signed as a webhook, and outlives a receiver that is down', async () => {
    // Of its own: jobs of the tests before may still end.
    const own = { VIS_API_KEY: (await createCustomer(api.orm)).keys.test };
    const port = await findFreePort();
    const secret = (await vis(['listen', '--print-secret'])).out.trim();
    const line = ['listen', '--forward-to', `localhost:${port}/hook`, '--events', 'job.succeeded,job.partial'];
    const listening = start(line, own);
    await listening.wrote(/Ready\. Forwarding to http:\/\/localhost:\d+\/hook, signed with whsec_/);
    await vis(['trigger', 'job.succeeded'], own);
    const [, lost] = await listening.wrote(/job\.succeeded (evt_\w+) → not delivered: nothing listens there/);
    const receiver = await startReceiver(port);
    await vis(['trigger', 'job.failed'], own);
    await vis(['trigger', 'job.partial'], own);
    await listening.wrote(/job\.partial evt_\w+ → 204 in \d+ ms/);
    const replayed = await vis(['replay', lost ?? '', '--forward-to', `localhost:${port}/hook`], own);
    expect(replayed).toEqual(ok(expect.stringMatching(new RegExp(`job\\.succeeded ${lost} → 204`))));
    listening.interrupt();
    expect((await listening.ended).code).toBe(130);
    receiver.server.close();
    expect(receiver.deliveries.map(({ path }) => path)).toEqual(['/hook', '/hook']);
    const events = await Promise.all(
      receiver.deliveries.map(({ body, signature }) => verifyWebhook({ body, signature, secret })),
    );
    expect(events.map(({ type }) => type)).toEqual(['job.partial', 'job.succeeded']);
  });

  it('vis listen says that the service is down, misses nothing meanwhile, and goes on once it is back', async () => {
    let isAway = false;
    const proxy = await startProxy(() => (isAway ? 'break' : 'pass'));
    const receiver = await startReceiver(await findFreePort());
    const { port } = receiver.server.address() as AddressInfo;
    const listening = start(['listen', '--forward-to', `localhost:${port}`, '--base-url', proxy.url]);
    await listening.wrote(/Ready\./);
    isAway = true;
    await listening.wrote(/Trying again until it answers; Ctrl-C ends\./);
    await vis(['trigger', 'job.succeeded']);
    isAway = false;
    await listening.wrote(/The service answers again\./);
    await listening.wrote(/job\.succeeded evt_\w+ → 204/);
    listening.interrupt();
    expect((await listening.ended).code).toBe(130);
    receiver.server.close();
    proxy.close();
  });

  it('vis listen ends with code 4 when its key stops working', async () => {
    const other = await createCustomer(api.orm);
    const listening = start(['listen', '--forward-to', '127.0.0.1:9'], { VIS_API_KEY: other.keys.test });
    await listening.wrote(/Ready\./);
    const VIS_TOKEN = await tokenOf(other);
    const keys = await vis(['keys', 'list', '--json'], { VIS_TOKEN });
    const ofTest = keys.out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { id: string; prefix: string })
      .find(({ prefix }) => other.keys.test.startsWith(prefix));
    await vis(['keys', 'revoke', ofTest?.id ?? ''], { VIS_TOKEN });
    const { code, notes } = await listening.ended;
    expect({ code, notes }).toEqual({ code: 4, notes: expect.stringContaining('api_key_revoked') });
  });

  it('vis listen ends with code 5 when nobody receives a replay', async () => {
    const [line = ''] = (await vis(['run', 'dashboard.read', PICTURE, '--json'])).out.split('\n');
    const { id } = JSON.parse(line);
    const events = await api.call('/v1/events?limit=5', { key: customer.keys.test });
    const event = (events.json.data as { id: string; data: { object: { id: string } } }[]).find(
      ({ data }) => data.object.id === id,
    );
    const { code, out } = await vis(['replay', event?.id ?? '', '--forward-to', '127.0.0.1:9', '--json']);
    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 5, event: event?.id, status: null });
  });
});

function tokenOf({ organizationId }: Customer): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const lasting = { expiresAt: new Date((now + 3_500) * 1000), claims: { iat: now } };
  return api.identity.token({ organizationId }, lasting);
}

type Interference = 'pass' | 'break' | 'hold';

const isLaterPart = ({ headers }: IncomingMessage) => /^bytes [1-9]/.test(String(headers['content-range'] ?? ''));

/** Passes requests on, with uploads led through itself, and interferes where it is told to. A held request has no answer. */
async function startProxy(interfere: (request: IncomingMessage) => Interference) {
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const how = interfere(request);
    if (how === 'break') return void request.socket.destroy();
    if (how === 'hold') return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
    const answer = await fetch(api.url + request.url, {
      method: String(request.method),
      headers: headers as Record<string, string>,
      ...(request.method !== 'GET' && { body: Buffer.concat(chunks) }),
    });
    const text = (await answer.text()).replaceAll(api.url, address);
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(text);
  };
  const server = createServer((request, response) => void pass(request, response));
  const address = await listen(server);
  return {
    url: address,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Of more than one part. It begins as a picture. */
function largeFile(): string {
  const path = join(folder, 'large.jpg');
  const picture = readFileSync(PICTURE);
  writeFileSync(path, Buffer.concat([picture, Buffer.alloc(LARGE_BYTES - picture.length)]));
  return path;
}

async function startReceiver(port: number) {
  const deliveries: { path: string; body: string; signature: string }[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    deliveries.push({ path: String(request.url), body, signature: String(request.headers['service-signature']) });
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => void receive(request, response));
  await listen(server, port);
  return { server, deliveries };
}

async function listen(server: Server, port = 0): Promise<string> {
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve));
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}
