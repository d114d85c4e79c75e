/**
 * `npm run -s test:times -- REPORT [N]`: the N most expensive files (40 without N) of a report that a run of the tests kept because
 * `TEST_REPORT_PATH=REPORT` was set. Seconds of tests and hooks, and seconds of loading modules.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { FileReport, TestReport } from './test-report.ts';

const [path, limit = '40'] = process.argv.slice(2);
if (path === undefined || !existsSync(path)) {
  console.error('Name a report that a run has kept: TEST_REPORT_PATH=/tmp/report.json npm test');
  process.exit(1);
}
const { files } = JSON.parse(readFileSync(path, 'utf8')) as TestReport;

const seconds = (ms: number) => (ms / 1_000).toFixed(1).padStart(8);
const row = (name: string, lane: string, of: readonly FileReport[]) => {
  const tests = of.reduce((sum, { testsMs }) => sum + testsMs, 0);
  const loading = of.reduce((sum, { loadingMs }) => sum + loadingMs, 0);
  return `${seconds(tests)} ${seconds(loading)}  ${lane.padEnd(10)}${name}`;
};
const cost = ({ testsMs, loadingMs }: FileReport) => testsMs + loadingMs;

console.log('   tests  loading  lane      file');
for (const file of files.toSorted((one, other) => cost(other) - cost(one)).slice(0, Number(limit))) {
  console.log(row(file.path, file.lane, [file]));
}
for (const [lane, of] of Map.groupBy(files, (file) => file.lane)) console.log(row(`${of.length} files`, lane, of));
console.log(row(`all ${files.length} files`, '', files));
