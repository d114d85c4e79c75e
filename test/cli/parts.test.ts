/** Parts of the command line that need no service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { helpOf, overview, parseLine } from '../../src/cli/arguments.ts';
import { cancelOrLeave } from '../../src/cli/commands/jobs.ts';
import { completionsOf } from '../../src/cli/completions.ts';
import { EXIT, ReportedFailure } from '../../src/cli/exit-codes.ts';
import { forwardAddressOf } from '../../src/cli/forwarder.ts';
import { COMMANDS, runCommandLine } from '../../src/cli/run-command-line.ts';
import { safe, type Terminal, table } from '../../src/cli/terminal.ts';
import { ApiError, FILE_FIELDS, type Job, type VehicleInferenceClient } from '../../src/client/index.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

function createTerminal(signal = new AbortController().signal) {
  const lines: string[] = [];
  const notes: string[] = [];
  const terminal: Terminal = {
    print: (line) => void lines.push(line),
    note: (line) => void notes.push(line),
    progress: (line) => void notes.push(line),
    endProgress: () => {},
    readSecret: async () => '',
    environment: { VIS_CONFIG: '/nowhere/settings.json' },
    signal,
    sleep: async () => {},
    now: () => new Date(0),
  };
  return { terminal, lines, notes };
}

describe('a line', () => {
  it('a line is read by the name of its command, with options before, inside and after it', () => {
    const parsed = parseLine(COMMANDS, ['run', '--set', 'a=1', 'vin.read', '--set=b=2', 'x.jpg', 'y.jpg', '--json']);
    expect(parsed).toMatchObject({
      command: { name: 'run' },
      args: { endpoint: 'vin.read' },
      rest: ['x.jpg', 'y.jpg'],
      options: { set: ['a=1', 'b=2'], json: true },
    });
    const before = parseLine(COMMANDS, ['--base-url', 'http://a.test', 'jobs', '--limit', '2', 'list']);
    expect(before).toMatchObject({
      command: { name: 'jobs list' },
      options: { 'base-url': 'http://a.test', limit: '2' },
    });
  });

  it.each([
    [['jobs'], 'Which one: vis jobs list, vis jobs show'],
    [['jbos'], 'There is no command "jbos"'],
    [['jobs', 'show'], 'needs <job>'],
    [['jobs', 'show', 'a', 'b'], 'does not take "b"'],
    [['jobs', 'list', '--stauts', 'x'], "'--stauts'. See: vis jobs list --help"],
    [['--jbos'], "'--jbos'. See: vis --help"],
    [['jobs', 'list', '--limit', 'x'], '--limit must be a whole number'],
  ])('the line %j is refused with what to do', async (line, text) => {
    const { terminal, notes } = createTerminal();
    expect(await runCommandLine(line, terminal)).toBe(EXIT.usage);
    expect(notes.join('\n')).toContain(text);
  });

  it('a line without words, or with help, shows the commands and their options', async () => {
    const { terminal, lines } = createTerminal();
    expect(await runCommandLine([], terminal)).toBe(EXIT.ok);
    for (const line of [
      ['help'],
      ['-h'],
      ['jobs', 'list', '--help'],
      ['jobs', 'list', '-h'],
      ['help', 'jobs', 'list'],
    ]) {
      expect(await runCommandLine(line, terminal)).toBe(EXIT.ok);
    }
    const help = helpOf(COMMANDS.find(({ name }) => name === 'jobs list') as never);
    expect(lines).toEqual([...Array(3).fill(overview(COMMANDS)), ...Array(3).fill(help)]);
    for (const { name } of COMMANDS) expect(lines[0]).toContain(`vis ${name}`);
  });

  it('a line with --version shows the release', async () => {
    const { terminal, lines } = createTerminal();
    expect(await runCommandLine(['--version'], terminal)).toBe(EXIT.ok);
    const manifest = JSON.parse(readFileSync(join(PROJECT_DIRECTORY, 'src/cli/package.json'), 'utf8'));
    expect(lines).toEqual([manifest.version]);
  });
});

describe('completions', () => {
  it.each([
    [['jo'], ['jobs']],
    [
      ['jobs', ''],
      ['cancel', 'list', 'show', 'watch'],
    ],
    [['run', 'dashb'], ['dashboard.read']],
    [['run', '--scenario', 'slow', 'dashb'], ['dashboard.read']],
    [['--base-url', 'http://a.test', 'jo'], ['jobs']],
    [['run', 'dashboard.read', 'x'], []],
    [['jobs', 'list', '--st'], ['--status']],
    [['jobs', 'list', '--status', 'q'], ['queued']],
    [['trigger', 'job.f'], ['job.failed']],
  ])('completions of %j are %j', (words, expected) => {
    expect(completionsOf(COMMANDS, words)).toEqual(expected);
  });

  it.each(['bash', 'zsh', 'fish'])('completions of %s ask the program itself', async (shell) => {
    const { terminal, lines } = createTerminal();
    expect(await runCommandLine(['completions', shell], terminal)).toBe(EXIT.ok);
    expect(lines.join('\n')).toContain('vis complete -- ');
  });
});

describe('Ctrl-C while a job waits', () => {
  const job = { id: 'job_1' } as Job;
  const interrupted = AbortSignal.abort(new Error('interrupted'));
  const waiting = () => Promise.reject(new Error('interrupted'));
  const clientWith = (cancelJob: () => Promise<unknown>) => ({ cancelJob }) as unknown as VehicleInferenceClient;
  const refusal = new ApiError(409, {
    type: 'invalid_request_error',
    code: 'job_not_cancelable',
    message: 'picked up',
    doc_url: '',
    request_id: '',
  });

  it.each([
    ['cancels it if it is queued', async () => job, 'job_1 is canceled.'],
    ['leaves it if it was picked up', () => Promise.reject(refusal), 'job_1 continues. See: vis jobs watch job_1'],
  ])('Ctrl-C while a job waits %s', async (_, cancelJob, text) => {
    const { terminal, notes } = createTerminal(interrupted);
    const left = cancelOrLeave(clientWith(cancelJob), terminal, job, waiting);
    await expect(left).rejects.toMatchObject({ code: EXIT.interrupted });
    await expect(left).rejects.toBeInstanceOf(ReportedFailure);
    expect(notes).toEqual([text]);
  });
});

it('columns are as wide as their widest cell, and a missing value is a dash', () => {
  expect(
    table(
      ['ID', 'B'],
      [
        ['long', null],
        ['x', 1],
      ],
    ),
  ).toEqual(['ID    B', 'long  –', 'x     1']);
});

it('text that the service sends cannot steer the terminal', () => {
  expect(safe('a\u001b[2Jb\nc\u009bd')).toBe('ab c d');
});

it.each([
  ['localhost:3000', 'http://localhost:3000/'],
  ['https://a.test/x?y=1', 'https://a.test/x?y=1'],
])('an address %s is forwarded to as %s', (text, address) => {
  expect(forwardAddressOf(text)).toBe(address);
});

it('the client knows the field of files of every endpoint', () => {
  const { 'viewer.hotspots': none, 'video.onboard': video, ...pictures } = FILE_FIELDS;
  expect([none, video]).toEqual([null, null]);
  for (const [slug, field] of Object.entries(pictures)) {
    expect({ slug, field }).toEqual({ slug, field: endpoints.find((endpoint) => endpoint.slug === slug)?.files.field });
  }
});
