/** What some tests need from the machine. Without it they are skipped, and the run closes with what was missing. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe } from 'vitest';
import { findChromium } from '../../scripts/install-chromium.ts';
import { areKubernetesToolsInstalled } from '../../scripts/install-kubernetes-tools.ts';
import { isMlServerInstalled } from '../../scripts/install-mlserver.ts';
import { findPythonsOfClient, isPythonInstalled } from '../../scripts/install-python-client.ts';
import { isSchemathesisInstalled } from '../../scripts/install-schemathesis.ts';
import { isTemporalServerInstalled } from '../../scripts/install-temporal-server.ts';
import { TIME_SKIPPING_SERVER_PATH } from '../../scripts/install-time-skipping-server.ts';
import { isTrainingInstalled } from '../../scripts/install-training.ts';
import { VERSITYGW_PATH } from '../../scripts/install-versitygw.ts';

interface Need {
  isMet: () => boolean;
  /** What is missing and how to get it. */
  missing: string;
}

const installedBy = (name: string, script: string) => `no ${name}: node scripts/install-${script}.ts`;

const NEEDS = {
  nothing: { isMet: () => true, missing: '' },
  chromium: { isMet: () => findChromium() !== null, missing: installedBy('Chromium', 'chromium') },
  versitygw: { isMet: () => existsSync(VERSITYGW_PATH), missing: installedBy('versitygw', 'versitygw') },
  mlserver: { isMet: isMlServerInstalled, missing: installedBy('MLServer', 'mlserver') },
  temporalServer: { isMet: isTemporalServerInstalled, missing: installedBy("Temporal's server", 'temporal-server') },
  timeSkippingServer: {
    isMet: () => existsSync(TIME_SKIPPING_SERVER_PATH) && spawnSync('java', ['-version']).status === 0,
    missing: installedBy('time-skipping server of Temporal', 'time-skipping-server'),
  },
  schemathesis: { isMet: isSchemathesisInstalled, missing: installedBy('schemathesis', 'schemathesis') },
  pythonClient: {
    isMet: () => findPythonsOfClient().some(isPythonInstalled),
    missing: installedBy('packages of the Python client', 'python-client'),
  },
  kubernetesTools: {
    isMet: areKubernetesToolsInstalled,
    missing: installedBy('kustomize', 'kubernetes-tools'),
  },
  training: { isMet: isTrainingInstalled, missing: installedBy('PyTorch', 'training') },
  promtool: {
    isMet: () => spawnSync(process.env.PROMTOOL_PATH || 'promtool', ['--version']).status === 0,
    missing: 'no promtool: PROMTOOL_PATH, or on the PATH',
  },
  linux: { isMet: () => process.platform === 'linux', missing: 'not on Linux' },
  rounds: {
    isMet: () => Number(process.env.FAULT_ROUNDS ?? '1') > 1,
    missing: 'only in several rounds: npm run test:faults',
  },
} satisfies Record<string, Need>;

export const isMet = (need: keyof typeof NEEDS): boolean => NEEDS[need].isMet();

/** Declares a suite; where the need is not met all of it is skipped, and its title says why: run-tests.ts reads it there. */
export function describeWith(need: keyof typeof NEEDS, title: string, declare: () => void): void {
  if (isMet(need)) describe(title, declare);
  else describe.skip(`${title} [skipped: ${NEEDS[need].missing}]`, declare);
}
