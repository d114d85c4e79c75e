/**
 * Temporal's time-skipping test server: a day of timers passes in a second. The SDK's own download of it isn't reachable
 * everywhere, the same program as a Maven artifact is wherever Maven works. Where neither Java nor Maven is, the caller
 * reports why and runs a scaled schedule instead.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { cacheDirectoryOf } from '../../src/embedded/find-temporal.ts';

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

const STARTS = 5;

/** The SDK allows the server five seconds to start, which a JVM on a loaded machine may exceed. */
export async function startTimeSkippingServer(path: string): Promise<TestWorkflowEnvironment> {
  for (let start = 1; ; start += 1) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      if (start === STARTS || !/did not start within/.test(String(error))) throw error;
    }
  }
}
