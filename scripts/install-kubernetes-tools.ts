/**
 * `node scripts/install-kubernetes-tools.ts`: builds kustomize with Go, and installs kubernetes-validate, which carries the
 * schemas of Kubernetes, into the user's cache, unless they are there already. The test of rendered manifests is skipped without
 * them.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type GoProgram, goProgramDirectory, installGoProgram } from './go-program.ts';
import { createPythonEnvironment, pythonEnvironmentDirectory } from './python-environment.ts';

const KUSTOMIZE: GoProgram = {
  name: 'kustomize',
  version: '5.7.1',
  packages: { kustomize: 'sigs.k8s.io/kustomize/kustomize/v5' },
};
const VALIDATE_VERSION = '1.37.0';
const environment = pythonEnvironmentDirectory(`kubernetes-validate-${VALIDATE_VERSION}`);

/** The programs, installed or not. */
export const KUSTOMIZE_PATH = join(goProgramDirectory(KUSTOMIZE), 'kustomize');
export const KUBERNETES_VALIDATE_PATH = join(environment, 'bin', 'kubernetes-validate');

if (import.meta.main) {
  installGoProgram(KUSTOMIZE);
  if (!existsSync(KUBERNETES_VALIDATE_PATH)) {
    createPythonEnvironment('python3', environment, [`kubernetes-validate==${VALIDATE_VERSION}`]);
  }
  console.log(`kubernetes-validate ${VALIDATE_VERSION} is installed in ${environment}`);
}
