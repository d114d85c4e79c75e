/** Each overlay as kustomize renders it, held to the schemas of Kubernetes and to what it promises. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KUBERNETES_VALIDATE_PATH, KUSTOMIZE_PATH } from '../../scripts/install-kubernetes-tools.ts';
import { describeWith, isMet } from '../support/needs.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { type Manifest, type PodSpec, parseManifests } from './manifests.ts';

/** The oldest version that docs/operations.md names. */
const KUBERNETES_VERSION = '1.30';
/** Known to operators in the cluster, not to Kubernetes. */
const isBuiltIn = ({ apiVersion }: Manifest) => !/^(?:keda|monitoring)\./.test(apiVersion);

describeWith('kubernetesTools', 'rendered by kustomize', () => {
  describe.each(['cpu', 'gpu'])('the overlay %s', (overlay) => {
    const text = isMet('kubernetesTools')
      ? run(KUSTOMIZE_PATH, ['build', `deploy/kubernetes/overlays/${overlay}`])
      : '';
    const manifests = parseManifests(text, overlay);
    const pods = new Map(
      manifests
        .filter(({ kind }) => kind === 'Deployment')
        .map(({ metadata, spec }) => [metadata.name, spec.template?.spec as PodSpec]),
    );

    it('an overlay fits the schemas of Kubernetes, without a field that they do not know', () => {
      const file = join(mkdtempSync(join(tmpdir(), 'rendered-')), 'manifests.yaml');
      writeFileSync(file, text);
      const checked = run(KUBERNETES_VALIDATE_PATH, ['-k', KUBERNETES_VERSION, '--strict', '--no-warn', file]);
      const passed = checked.split('\n').filter((line) => line.includes(' passed for resource '));
      expect(passed).toHaveLength(manifests.filter(isBuiltIn).length);
      expect(passed.length).toBeGreaterThan(15);
    });

    it('an overlay refers to configuration, volumes and accounts that it contains', () => {
      const names = (kind: string) =>
        manifests.filter((other) => other.kind === kind).map(({ metadata }) => metadata.name);
      for (const [name, pod] of pods) {
        const claims = pod.volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
        const configurations = pod.containers[0].envFrom.map(({ configMapRef }) => configMapRef.name);
        const account = pod.serviceAccountName === undefined ? [] : [pod.serviceAccountName];
        expect([name, claims.filter((claim) => !names('PersistentVolumeClaim').includes(claim))]).toEqual([name, []]);
        expect([name, configurations.filter((other) => !names('ConfigMap').includes(other))]).toEqual([name, []]);
        expect([name, account.filter((other) => !names('ServiceAccount').includes(other))]).toEqual([name, []]);
      }
    });

    it('an overlay has no image without a registry and a version', () => {
      for (const { containers } of pods.values())
        expect(containers[0].image).toMatch(/^registry\.example\.com\/.+:0\.1\.0$/);
    });

    it('an overlay gives GPUs only where it says so, and only to workers that use them', () => {
      const withGpu = [...pods].filter(([, { containers }]) => 'nvidia.com/gpu' in containers[0].resources.limits);
      expect(withGpu.map(([name]) => name)).toEqual(overlay === 'gpu' ? ['inference-gpu'] : []);
      for (const [, { containers }] of withGpu) {
        expect(containers[0].env).toContainEqual({ name: 'INFERENCE_EXECUTION_PROVIDER', value: 'cuda' });
      }
    });

    it('an overlay scales workers that it contains, each build by its own backlog', () => {
      const scaled = manifests.filter(({ kind }) => kind === 'ScaledObject');
      expect(scaled.length).toBeGreaterThan(2);
      for (const { spec } of scaled) {
        const { scaleTargetRef, triggers } = spec as unknown as {
          scaleTargetRef: { name: string };
          triggers: { metadata: { taskQueue: string; workerDeploymentBuildId?: string } }[];
        };
        const pod = pods.get(scaleTargetRef.name);
        expect([scaleTargetRef.name, pod === undefined]).toEqual([scaleTargetRef.name, false]);
        const build = pod?.containers[0].env.find(({ name }) => name === 'TEMPORAL_BUILD_ID')?.value;
        expect(triggers[0]?.metadata.workerDeploymentBuildId).toBe(build);
      }
    });

    it('an overlay keeps files in one place, the volume or the bucket', () => {
      const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data;
      const mounting = [...pods].filter(([, { volumes }]) => volumes.some(({ name }) => name === 'storage'));
      expect([settings?.STORAGE, mounting.length > 0]).toEqual(
        overlay === 'gpu' ? ['bucket', false] : [undefined, true],
      );
      expect(manifests.some(({ kind }) => kind === 'PersistentVolumeClaim')).toBe(overlay === 'cpu');
    });
  });
});

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: PROJECT_DIRECTORY, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${stdout}${stderr}`);
  return stdout + stderr;
}
