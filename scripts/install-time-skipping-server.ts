/**
 * `node scripts/install-time-skipping-server.ts`: brings Temporal's time-skipping test server into the user's cache with Maven, unless
 * it is there already: a day of timers passes in a second there. The tests that need it are skipped without it.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDirectoryOf } from '../src/embedded/find-temporal.ts';

const VERSION = '1.38.0';
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>test</groupId><artifactId>temporal-test-server</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId><version>${VERSION}</version></dependency>
  </dependencies>
</project>`;

const directory = join(dirname(cacheDirectoryOf(process.env)), `temporal-test-server-${VERSION}`);

/** The program, installed or not. It takes a port and `--enable-time-skipping`, and runs on Java. */
export const TIME_SKIPPING_SERVER_PATH = join(directory, 'temporal-test-server.sh');

function install(): void {
  if (existsSync(TIME_SKIPPING_SERVER_PATH)) {
    console.log(`Temporal's time-skipping server ${VERSION} is already installed in ${directory}`);
    return;
  }
  mkdirSync(dirname(directory), { recursive: true });
  const unfinished = mkdtempSync(`${directory}-`);
  try {
    writeFileSync(join(unfinished, 'pom.xml'), POM);
    const { status, error } = spawnSync('mvn', ['-q', '-B', COPY_DEPENDENCIES, '-DoutputDirectory=libraries'], {
      cwd: unfinished,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (status !== 0)
      throw new Error(`Maven is needed as mvn on the PATH, with Java: ${error?.message ?? 'it failed'}`);
    const program = join(unfinished, 'temporal-test-server.sh');
    writeFileSync(
      program,
      '#!/bin/sh\nexec java -cp "$(dirname "$0")/libraries/*" io.temporal.testserver.TestServer "$@"\n',
    );
    chmodSync(program, 0o755);
    // At once, so that nobody finds half of it.
    renameSync(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  console.log(`Temporal's time-skipping server ${VERSION} is installed in ${directory}`);
}

if (import.meta.main) install();
