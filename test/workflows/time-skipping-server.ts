/**
 * Temporal's time-skipping test server: a day of timers passes in a second. The SDK's own download of it isn't reachable
 * everywhere, the same program as a Maven artifact is wherever Maven works. Where neither Java nor Maven is, the caller
 * reports why and runs a scaled schedule instead.
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { cacheDirectoryOf } from '../../src/embedded/find-temporal.ts';
import { findFreePort } from '../../src/embedded/ports.ts';
import { ProcessRecord } from '../../src/embedded/process-record.ts';
import { startProgram, waitUntilReady } from '../../src/embedded/program.ts';

const VERSION = '1.38.0';
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const DOWNLOAD_LIMIT_MS = 180_000;

const directory = join(dirname(cacheDirectoryOf(process.env)), `temporal-test-server-${VERSION}`);

/** The program, which takes a port and `--enable-time-skipping`; or why it can't be had here. */
export function findTimeSkippingServer(): { path: string } | { unavailable: string } {
  if (!runs('java', ['-version'])) return { unavailable: 'no Java' };
  const path = join(directory, 'temporal-test-server.sh');
  if (existsSync(path)) return { path };
  if (!runs('mvn', ['--version'])) return { unavailable: 'no Maven' };
  return download() ? { path } : { unavailable: 'Maven Central is not reachable' };
}

function runs(command: string, args: string[], options: { cwd?: string } = {}): boolean {
  return spawnSync(command, args, { ...options, stdio: 'ignore', timeout: DOWNLOAD_LIMIT_MS }).status === 0;
}

function download(): boolean {
  mkdirSync(dirname(directory), { recursive: true });
  const unfinished = mkdtempSync(`${directory}-`);
  writeFileSync(
    join(unfinished, 'pom.xml'),
    `<project xmlns="http://maven.apache.org/POM/4.0.0">
      <modelVersion>4.0.0</modelVersion>
      <groupId>test</groupId><artifactId>temporal-test-server</artifactId><version>1</version>
      <dependencies>
        <dependency><groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId><version>${VERSION}</version></dependency>
      </dependencies>
    </project>`,
  );
  const copied = runs('mvn', ['-q', '-B', COPY_DEPENDENCIES, '-DoutputDirectory=libraries'], { cwd: unfinished });
  if (copied) {
    const program = join(unfinished, 'temporal-test-server.sh');
    writeFileSync(
      program,
      '#!/bin/sh\nexec java -cp "$(dirname "$0")/libraries/*" io.temporal.testserver.TestServer "$@"\n',
    );
    chmodSync(program, 0o755);
    // At once, so that nobody finds half of it.
    if (!existsSync(directory)) renameSync(unfinished, directory);
  }
  rmSync(unfinished, { recursive: true, force: true });
  return copied;
}

/** Starts it, and connects to it as the SDK does, which itself allows a server only five seconds to start. */
export async function startTimeSkippingServer(path: string) {
  const logDirectory = mkdtempSync(join(tmpdir(), 'time-skipping-server-'));
  const logPath = join(logDirectory, 'server.log');
  const port = await findFreePort();
  const server = await startProgram({
    name: 'temporal-test-server',
    command: path,
    args: [String(port), '--enable-time-skipping'],
    environment: process.env,
    logPath,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 60_000,
    record: new ProcessRecord(join(logDirectory, 'processes.json')),
  });
  await waitUntilReady(server, () => accepts(port), { timeoutMs: 200_000, logPath });
  // biome-ignore lint/complexity/useLiteralKeys: the SDK keeps it to itself
  const environment = await TestWorkflowEnvironment['create']({
    server: { type: 'existing' },
    address: `127.0.0.1:${port}`,
    supportsTimeSkipping: true,
  });
  return {
    environment,
    async close() {
      await environment.teardown();
      await server.stop();
      rmSync(logDirectory, { recursive: true });
    },
  };
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const accepted = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return accepted;
}
