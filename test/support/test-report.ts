/** What a run of the tests leaves for run-tests.ts, test-times.ts and test-faults.ts: one JSON file at `TEST_REPORT_PATH`. */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export interface TestReport {
  files: FileReport[];
  /** Errors outside tests: a file that cannot be loaded, a hook, a rejection that nobody handled. Each counts as a failure. */
  errors: string[];
}

export interface FileReport {
  /** From the project's root. */
  path: string;
  lane: string;
  /** Importing the file and its modules. */
  loadingMs: number;
  /** Tests and hooks. */
  testsMs: number;
  tests: { name: string; state: 'passed' | 'failed' | 'skipped' | 'pending'; durationMs: number }[];
}

export default class TestReportWriter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly { message?: string }[]): void {
    const path = process.env.TEST_REPORT_PATH;
    if (!path) throw new Error('TEST_REPORT_PATH is missing: run the tests with `npm test`');
    const report: TestReport = {
      files: modules.map(describeFile),
      errors: [
        ...modules.flatMap((module) =>
          [...errorsOf(module)].map((message) => `${module.relativeModuleId}: ${message}`),
        ),
        ...unhandled.map(({ message }) => String(message)),
      ],
    };
    writeFileSync(path, JSON.stringify(report));
  }
}

function describeFile(module: TestModule): FileReport {
  const { collectDuration, duration } = module.diagnostic();
  return {
    path: relative(process.cwd(), module.moduleId),
    lane: module.project.name,
    loadingMs: collectDuration,
    testsMs: duration,
    tests: [...module.children.allTests()].map((test) => ({
      name: test.fullName,
      state: test.result().state,
      durationMs: durationOf(test),
    })),
  };
}

const durationOf = (test: TestCase): number => test.diagnostic()?.duration ?? 0;

function* errorsOf(module: TestModule): Generator<string> {
  for (const { message } of module.errors()) yield message;
  for (const suite of module.children.allSuites()) {
    for (const { message } of suite.errors()) yield `${suite.fullName}: ${message}`;
  }
}
