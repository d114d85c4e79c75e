/**
 * Alerts fire when they should and not otherwise, tested with promtool if it is available (`PROMTOOL_PATH`, or on the `PATH`).
 * Otherwise the test says so, and checks only that each alert has a case.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeWith } from '../support/needs.ts';
import { readManifests } from './manifests.ts';

interface AlertCase {
  alertname: string;
  exp_alerts: unknown[];
}

const CASES = fileURLToPath(new URL('alerts.promtool.yaml', import.meta.url));
const promtool = process.env.PROMTOOL_PATH || 'promtool';

const [rules] = readManifests().filter(({ kind }) => kind === 'PrometheusRule');
const groups = rules?.spec.groups as { rules: { alert: string }[] }[];

it('each alert has a case in which it fires', () => {
  const { tests } = parse(readFileSync(CASES, 'utf8')) as { tests: { alert_rule_test: AlertCase[] }[] };
  const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
  const fired = new Set(cases.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname));
  for (const { alert } of groups.flatMap((group) => group.rules)) {
    expect([alert, fired.has(alert)]).toEqual([alert, true]);
  }
});

describeWith('promtool', 'promtool', () => {
  it('each alert fires when it should', () => {
    const directory = mkdtempSync(join(tmpdir(), 'alerts-'));
    writeFileSync(join(directory, 'rules.json'), JSON.stringify({ groups }));
    copyFileSync(CASES, join(directory, 'cases.yaml'));
    for (const args of [
      ['check', 'rules', '--lint=all', '--lint-fatal', join(directory, 'rules.json')],
      ['test', 'rules', join(directory, 'cases.yaml')],
    ]) {
      const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: 'utf8' });
      expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' });
    }
  });
});
