/** Reads the manifests in `deploy/kubernetes` as an operator applies them. */
import { globSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

export interface Labels {
  [label: string]: string;
}

export interface EnvironmentEntry {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string } };
}

export interface Container {
  name: string;
  image: string;
  command: string[];
  env: EnvironmentEntry[];
  envFrom: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
  resources: { requests: Labels; limits: Labels };
  volumeMounts: { name: string; mountPath: string }[];
  securityContext: object;
}

export interface Probe {
  httpGet: { path: string; port: string };
}

export interface PodSpec {
  terminationGracePeriodSeconds?: number;
  serviceAccountName?: string;
  securityContext: object;
  topologySpreadConstraints?: object[];
  containers: [Container];
  volumes: { name: string; persistentVolumeClaim?: { claimName: string } }[];
}

export interface Manifest {
  /** From the project's root. */
  path: string;
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Labels };
  // It depends on the kind; each test states its expectations.
  spec: Record<string, unknown> & { template?: { metadata: { labels: Labels }; spec: PodSpec } };
  data?: Labels;
  resources?: string[];
  images?: { name: string; newName: string; newTag: string }[];
}

/** @throws for a file that is not YAML. */
export function readManifests(): Manifest[] {
  return globSync('deploy/kubernetes/**/*.yaml', { cwd: PROJECT_DIRECTORY })
    .toSorted()
    .flatMap((path) => parseManifests(readFileSync(PROJECT_DIRECTORY + path, 'utf8'), path));
}

/** @throws for text that is not YAML. */
export function parseManifests(text: string, path: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors.join('; ')}`);
    return { path, ...(document.toJS() as Omit<Manifest, 'path'>) };
  });
}
