/** Checks the Kubernetes manifests without a cluster: they fit each other, the configuration and the code. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TASK_QUEUES } from '../../src/contracts/task-queues.ts';
import { PROCESS_VARIABLES, type ProcessName, readConfig } from '../../src/platform/config/config.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { type Labels, type Manifest, type PodSpec, readManifests } from './manifests.ts';

const { scripts } = createRequire(import.meta.url)('../../package.json') as { scripts: Record<string, string> };
const manifests = readManifests();
const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind);
const read = (path: string) => readFileSync(PROJECT_DIRECTORY + path, 'utf8');

/** By process, the queues that it polls whatever its configuration. */
const POLLED: Record<string, string[]> = {
  'worker:orchestration': [TASK_QUEUES.orchestration, TASK_QUEUES.valuation],
  'worker:webhooks': [TASK_QUEUES.webhooks],
};

const KINDS: Record<string, string> = {
  Component: 'kustomize.config.k8s.io/v1alpha1',
  ConfigMap: 'v1',
  CronJob: 'batch/v1',
  Deployment: 'apps/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  Job: 'batch/v1',
  Kustomization: 'kustomize.config.k8s.io/v1beta1',
  NetworkPolicy: 'networking.k8s.io/v1',
  PersistentVolumeClaim: 'v1',
  PodDisruptionBudget: 'policy/v1',
  PodMonitor: 'monitoring.coreos.com/v1',
  PrometheusRule: 'monitoring.coreos.com/v1',
  ScaledObject: 'keda.sh/v1alpha1',
  Service: 'v1',
  ServiceAccount: 'v1',
};

interface Workload {
  manifest: Manifest;
  processName: ProcessName;
  labels: Labels;
  pod: PodSpec;
}

interface ScaledObjectSpec {
  scaleTargetRef: { name: string };
  minReplicaCount: number;
  triggers: { type: string; metadata: Record<string, string> }[];
}

function asWorkload(manifest: Manifest): Workload {
  const job = manifest.spec.jobTemplate as Manifest | undefined;
  const template = manifest.spec.template ?? job?.spec.template;
  if (!template) throw new Error(`${manifest.path} has no pod`);
  const [container] = template.spec.containers;
  const command = `exec ${container.command.join(' ')}`;
  const processName = Object.keys(PROCESS_VARIABLES).find((name) => scripts[name] === command);
  if (!processName) throw new Error(`${manifest.path}: no npm script is "${command}"`);
  return { manifest, processName: processName as ProcessName, labels: template.metadata.labels, pod: template.spec };
}

const workloads = ['Deployment', 'Job', 'CronJob'].flatMap((kind) => ofKind(kind).map(asWorkload));
const deployments = workloads.filter(({ manifest }) => manifest.kind === 'Deployment');
const named = (list: readonly Workload[]) =>
  list.map((workload) => [workload.manifest.metadata.name, workload] as const);
const fits = (selector: unknown, labels: Labels) =>
  Object.entries((selector as { matchLabels: Labels }).matchLabels).every(([label, value]) => labels[label] === value);

const queuesOf = ({ processName, pod }: Workload): string[] =>
  processName === 'worker:inference'
    ? (pod.containers[0].env.find(({ name }) => name === 'INFERENCE_QUEUES')?.value?.split(',') ?? [])
    : (POLLED[processName] ?? []);

describe('the manifests', () => {
  it('the manifests have known kinds and versions', () => {
    for (const { path, kind, apiVersion } of manifests)
      expect([path, kind, apiVersion]).toEqual([path, kind, KINDS[kind]]);
  });

  it('the manifests are all named by kustomizations, which name nothing else', () => {
    const kustomizations = [...ofKind('Kustomization'), ...ofKind('Component')];
    const namedPaths = kustomizations.flatMap(({ path, resources = [] }) =>
      resources.map((resource) => join(dirname(path), resource)),
    );
    for (const path of namedPaths) expect([path, existsSync(PROJECT_DIRECTORY + path)]).toEqual([path, true]);
    const files = [...new Set(manifests.map(({ path }) => path))].filter(
      (path) => !path.endsWith('kustomization.yaml'),
    );
    expect(namedPaths.filter((path) => path.endsWith('.yaml')).toSorted()).toEqual(files.toSorted());
  });

  it('the manifests run every serving process, the migration and the verification', () => {
    const running = [...new Set(workloads.map(({ processName }) => processName))];
    expect(running.toSorted()).toEqual(
      ['api', 'ledger:verify', 'migrate', 'worker:inference', 'worker:orchestration', 'worker:webhooks'].toSorted(),
    );
  });

  it('the manifests serve every task queue', () => {
    expect(deployments.flatMap(queuesOf)).toEqual(expect.arrayContaining(Object.values(TASK_QUEUES)));
  });
});

it('workers of inference-heavy alone have the image that decodes videos, and the example says where each image lies', () => {
  for (const { manifest, pod } of workloads) {
    const [{ image, env }] = pod.containers;
    const queues = env.find(({ name }) => name === 'INFERENCE_QUEUES')?.value?.split(',') ?? [];
    const isHeavy = queues.includes(TASK_QUEUES.inferenceHeavy);
    const expected = isHeavy ? 'vehicle-inference-service-heavy' : 'vehicle-inference-service';
    expect([manifest.metadata.name, image]).toEqual([manifest.metadata.name, expected]);
  }
  const example = ofKind('Kustomization').find(
    ({ path }) => path === 'deploy/kubernetes/overlays/cpu/kustomization.yaml',
  );
  const used = new Set(workloads.map(({ pod }) => pod.containers[0].image));
  expect(example?.images?.map(({ name }) => name)).toEqual([...used].toSorted());
});

describe.each(named(workloads))('%s', (_name, { processName, pod }) => {
  const [container] = pod.containers;
  const shared = ofKind('ConfigMap')[0]?.data ?? {};
  const environment = Object.fromEntries([
    ...Object.entries(shared),
    ...container.env.map(({ name, value }) => [
      name,
      value ?? (name.startsWith('DATABASE_') ? 'postgres://db/x' : 'k'.repeat(32)),
    ]),
  ]);

  it('a workload sets only variables that its process reads, and shared ones that some process reads', () => {
    const known: readonly string[] = PROCESS_VARIABLES[processName];
    expect(container.env.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
    const readBySome: readonly string[] = Object.values(PROCESS_VARIABLES).flat();
    expect(Object.keys(shared).filter((name) => !readBySome.includes(name))).toEqual([]);
  });

  it('a workload sets every variable that its process requires in production', () => {
    expect(environment.SERVICE_ENVIRONMENT).toBe('production');
    expect(() => readConfig(processName, environment)).not.toThrow();
  });

  it('a workload takes every secret from the Secret', () => {
    const literals = container.env.filter(
      ({ name, value }) => value !== undefined && /KEY|SECRET|URL$|PASSWORD/.test(name),
    );
    expect(literals).toEqual([]);
  });

  it('a workload cannot become root, gain privileges or write where it need not', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const mounts = container.volumeMounts.map(({ name, mountPath }) => `${name}:${mountPath}`);
    expect(['tmp:/tmp', 'storage:/storage']).toEqual(expect.arrayContaining(mounts));
    expect(pod.volumes.map(({ name }) => name).toSorted()).toEqual(
      container.volumeMounts.map(({ name }) => name).toSorted(),
    );
  });

  it('a workload requests resources and limits its memory', () => {
    expect(container.resources).toMatchObject({
      requests: { cpu: expect.any(String), memory: expect.any(String) },
      limits: { memory: expect.any(String) },
    });
  });
});

describe.each(named(deployments))('the deployment %s', (name, { manifest, processName, labels, pod }) => {
  const [container] = pod.containers;

  it('a deployment selects its own pods and no others', () => {
    expect(fits(manifest.spec.selector, labels)).toBe(true);
    const chosen = deployments.filter((other) => fits(manifest.spec.selector, other.labels));
    expect(chosen.map((other) => other.manifest.metadata.name)).toEqual([name]);
  });

  it('a deployment spreads its pods over nodes', () => {
    expect(pod.topologySpreadConstraints).toEqual([
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: manifest.spec.selector,
      },
    ]);
  });

  it('a deployment has a disruption budget', () => {
    const budgets = ofKind('PodDisruptionBudget').filter(({ spec }) => fits(spec.selector, labels));
    expect(budgets.map(({ spec }) => spec.maxUnavailable)).toEqual([1]);
  });

  it('a deployment is probed at its own ports, on paths that the process serves', () => {
    const ports = container.ports?.map((port) => port.name);
    for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
      if (probe) expect(ports).toContain(probe.httpGet.port);
    }
    expect(container.livenessProbe?.httpGet.path).toBe('/health/live');
    expect(container.readinessProbe?.httpGet.path).toBe('/health/ready');
  });

  it('a deployment listens at the configured addresses', () => {
    const shared = ofKind('ConfigMap')[0]?.data ?? {};
    const portOf = (wanted: string) => container.ports?.find((port) => port.name === wanted)?.containerPort;
    expect(shared.METRICS_ADDRESS).toBe(`0.0.0.0:${portOf('metrics')}`);
    if (processName !== 'api') expect(shared.TEMPORAL_METRICS_ADDRESS).toBe(`0.0.0.0:${portOf('temporal-metrics')}`);
    else
      expect(portOf('http')).toBe(
        readConfig('api', {
          DATABASE_URL: 'postgres://db/x',
          TEMPORAL_ADDRESS: 'x',
          SERVICE_ENVIRONMENT: 'development',
        }).API_PORT,
      );
  });

  it('a deployment has more time to stop than it needs to drain', () => {
    const source = read(container.command[1] ?? '');
    const [, drainMs = ''] = /(?:graceMs: |DRAIN_TIMEOUT_MS = )([\d_]+)/.exec(source) ?? [];
    const drainSeconds = Number(drainMs.replaceAll('_', '')) / 1_000;
    const sleepSeconds = container.lifecycle?.preStop?.sleep?.seconds ?? 0;
    expect(drainSeconds).toBeGreaterThan(0);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(drainSeconds + sleepSeconds + 10);
  });
});

describe('scaling', () => {
  const scaled = ofKind('ScaledObject').map(
    ({ metadata, spec }) => [metadata.name, spec as unknown as ScaledObjectSpec] as const,
  );

  it('every worker has a scaling that follows a backlog', () => {
    const workers = deployments.filter(({ processName }) => processName !== 'api');
    expect(scaled.map(([name]) => name).toSorted()).toEqual(
      workers.map(({ manifest }) => manifest.metadata.name).toSorted(),
    );
  });

  it.each(scaled)('the scaling of %s follows the backlog of the queues that it serves', (name, spec) => {
    expect(spec.scaleTargetRef.name).toBe(name);
    const target = deployments.find(({ manifest }) => manifest.metadata.name === name) as Workload;
    const [configured] = queuesOf(target);
    const isInference = target.processName === 'worker:inference';
    // Other queues of inference workers may fall behind.
    expect(spec.triggers.map(({ metadata }) => metadata.taskQueue)).toEqual(
      isInference ? [configured] : queuesOf(target),
    );
    const shared = ofKind('ConfigMap')[0]?.data;
    for (const { type, metadata } of spec.triggers) {
      const hasWorkflows = metadata.taskQueue === POLLED[target.processName]?.[0];
      expect(type).toBe('temporal');
      expect(metadata).toMatchObject({
        queueTypes: hasWorkflows ? 'workflow,activity' : 'activity',
        endpoint: shared?.TEMPORAL_ADDRESS,
        namespace: shared?.TEMPORAL_NAMESPACE,
      });
    }
    // KEDA and a fixed number would overwrite each other.
    expect(target.manifest.spec.replicas).toBeUndefined();
    // Without a pod, live mode would withdraw the endpoints, and nothing would sweep or deliver.
    expect(spec.minReplicaCount).toBeGreaterThanOrEqual(1);
  });

  it('the scaling of the API follows its CPU', () => {
    const [autoscaler] = ofKind('HorizontalPodAutoscaler');
    const target = autoscaler?.spec.scaleTargetRef as { name: string };
    expect(deployments.find(({ manifest }) => manifest.metadata.name === target.name)?.processName).toBe('api');
  });
});

it('services select existing pods and ports', () => {
  for (const { spec } of ofKind('Service')) {
    const target = deployments.find(({ labels }) => fits({ matchLabels: spec.selector }, labels));
    const ports = target?.pod.containers[0].ports?.map(({ name }) => name);
    for (const { targetPort } of spec.ports as { targetPort: string }[]) expect(ports).toContain(targetPort);
  }
});

it('webhook workers reach no private addresses except DNS, PostgreSQL, Temporal and the collector', () => {
  const policy = ofKind('NetworkPolicy').find(({ metadata }) => metadata.name === 'webhooks');
  const egress = policy?.spec.egress as {
    to?: { ipBlock: { cidr: string; except: string[] } }[];
    ports: { port: number }[];
  }[];
  const [anywhere, ...within] = egress;
  expect(
    fits(
      policy?.spec.podSelector,
      deployments.find(({ processName }) => processName === 'worker:webhooks')?.labels ?? {},
    ),
  ).toBe(true);
  expect(anywhere?.to?.[0]?.ipBlock.except).toEqual(
    expect.arrayContaining(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10']),
  );
  expect(within.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([53, 53, 5432, 7233, 4318]);
});

it('the example gives its workflow workers a build of their own', () => {
  const text = read('deploy/kubernetes/overlays/cpu/workflow-workers/kustomization.yaml');
  const build = /name: TEMPORAL_BUILD_ID, value: (\S+) \}/.exec(text)?.[1];
  expect(build).toMatch(/^[\w-]+$/);
  expect(text).toContain(`nameSuffix: -${build}\n`);
  expect(text).toContain(`app.kubernetes.io/version: ${build} }`);
});
