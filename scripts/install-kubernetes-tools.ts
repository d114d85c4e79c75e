/**
 * `node scripts/install-kubernetes-tools.ts`: builds kustomize with Go, and installs kubernetes-validate, which carries the
 * schemas of Kubernetes, into the user's cache, unless they are there already. The test of rendered manifests is skipped without
 * them.
 */
import { join } from 'node:path';
import { type GoProgram, goProgramDirectory, installGoProgram, isGoProgramInstalled } from './go-program.ts';
import { PythonEnvironment } from './python-environment.ts';

const KUSTOMIZE: GoProgram = {
  name: 'kustomize',
  version: '5.7.1',
  packages: { kustomize: 'sigs.k8s.io/kustomize/kustomize/v5' },
};
const environment = new PythonEnvironment('kubernetes-validate', 'kubernetes-validate==1.37.0\n');

/** The programs, installed or not. */
export const KUSTOMIZE_PATH = join(goProgramDirectory(KUSTOMIZE), 'kustomize');
export const KUBERNETES_VALIDATE_PATH = environment.program('kubernetes-validate');

export const areKubernetesToolsInstalled = (): boolean => isGoProgramInstalled(KUSTOMIZE) && environment.isInstalled;

if (import.meta.main) {
  installGoProgram(KUSTOMIZE);
  environment.install('python3', ['3.9']);
}
