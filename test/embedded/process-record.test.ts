import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { identifyProcess, waitForEnd } from '../../src/embedded/process-identity.ts';
import { findOrphans, ProcessRecord, stopOrphans } from '../../src/embedded/process-record.ts';

let path: string;
let children: ChildProcess[];

beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'process-record-')), 'processes.json');
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});

async function run(command: string, ...args: string[]): Promise<number> {
  const child = spawn(command, args);
  children.push(child);
  await once(child, 'spawn');
  return child.pid as number;
}

it('a process of an earlier supervisor is found and stopped', async () => {
  const pid = await run('sleep', '60');
  new ProcessRecord(path).add('API', pid);
  const orphans = findOrphans(path);
  expect(orphans.map(({ name }) => name)).toEqual(['API']);
  await stopOrphans(orphans);
  expect(findOrphans(path)).toEqual([]);
});

it('a recorded process that ignores the signal is killed', async () => {
  const pid = await run(
    process.execPath,
    '-e',
    `process.on('SIGINT', () => {}); console.log('up'); setInterval(() => {}, 1e3)`,
  );
  await once(children[0]?.stdout as NodeJS.ReadableStream, 'data');
  new ProcessRecord(path).add('API', pid);
  const orphans = findOrphans(path);
  await stopOrphans(orphans, 200);
  expect(await Promise.all(orphans.map((orphan) => waitForEnd(orphan, 60_000)))).toEqual([true]);
});

it('another process that has the recorded id now is left alone', async () => {
  const pid = await run('sleep', '60');
  writeFileSync(path, JSON.stringify([{ name: 'API', pid, startedAt: 'an earlier life' }]));
  expect(findOrphans(path)).toEqual([]);
});

it('an ended process is not reported', async () => {
  const pid = await run('sleep', '60');
  const record = new ProcessRecord(path);
  record.add('API', pid);
  record.remove(pid);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual([]);
});

it('everything recorded is killed at once, with its children', async () => {
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; wait'], { detached: true });
  children.push(parent);
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const grandchild = identifyProcess(Number(line.toString()));
  const record = new ProcessRecord(path);
  record.add('Inference worker', parent.pid as number);
  record.killAll();
  await once(parent, 'exit');
  expect(grandchild && (await waitForEnd(grandchild, 60_000))).toBe(true);
});
