/** Alerts and dashboard name only exported metrics, and every alert is explained. */
import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { observeBacklog } from '../../src/observability/backlog.ts';
import { createMetrics, PREFIX } from '../../src/observability/metrics.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { SDK_METRICS } from '../observability/sdk-metrics.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { readManifests } from './manifests.ts';

const read = (path: string) => readFileSync(PROJECT_DIRECTORY + path, 'utf8');

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string };
}

interface Panel {
  type: string;
  title: string;
  targets?: { expr: string; refId: string }[];
  gridPos: { x: number; y: number; w: number; h: number };
}

const [rules] = readManifests().filter(({ kind }) => kind === 'PrometheusRule');
const groups = rules?.spec.groups as { rules: Rule[] }[];
const alerts = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(read('deploy/grafana/dashboard.json')) as { panels: Panel[] };
const expressions = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** Every series name, by metric: a histogram has three. */
async function exportedSeries(): Promise<Map<string, Set<string>>> {
  const registry = new Registry();
  createMetrics(registry);
  observeBacklog({
    registry,
    orm: { em: { fork: () => Promise.reject(new Error('not asked')) } } as unknown as MikroORM,
    temporal: null as never,
    logger: { warn: () => {} },
  });
  collectDefaultMetrics({ register: registry });
  const series = new Map<string, Set<string>>();
  for (const metric of registry.getMetricsAsArray()) {
    const { labelNames } = metric as unknown as { labelNames: string[] };
    const names = String(metric.constructor.name) === 'Histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const suffix of names) series.set(metric.name + suffix, new Set([...labelNames, 'le', 'pod']));
  }
  for (const [name, labels] of Object.entries(SDK_METRICS)) series.set(name, new Set([...labels, 'le', 'pod']));
  return series;
}

const NAME = /\b(?:vehicle_inference|temporal|nodejs|process)_\w+/g;

describe.each(expressions)('%s', (_where, expression) => {
  it('an expression uses existing metrics and labels', async () => {
    const series = await exportedSeries();
    const names = expression.match(NAME) ?? [];
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect([...series.keys()]).toContain(name);
    for (const [, name = '', selector = ''] of expression.matchAll(/(\w+)\{([^}]*)\}/g)) {
      for (const [, label = ''] of selector.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)) {
        expect([name, [...(series.get(name) ?? [])]]).toEqual([name, expect.arrayContaining([label])]);
      }
    }
  });
});

describe('the alerts', () => {
  it('the alerts are all explained in docs/operations.md, which explains no others', () => {
    const section = read('docs/operations.md').split('\n## Alerts\n')[1]?.split('\n## ')[0] ?? '';
    const explained = [...section.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name);
    expect(explained.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  });

  it('the alerts state their severity and the problem', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(?:page|ticket)$/)]);
      expect(annotations.summary).toMatch(/\S\.$/);
    }
  });
});

it('docs/operations.md explains every metric, and no other', async () => {
  const section = read('docs/operations.md').split('\n## Metrics\n')[1]?.split('\n## ')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| `'));
  const explained = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
  const exported = [...(await exportedSeries()).keys()]
    .filter((name) => name.startsWith(PREFIX) && !/_(?:bucket|sum)$/.test(name))
    .map((name) => name.slice(PREFIX.length).replace(/_count$/, ''));
  expect(explained.toSorted()).toEqual(exported.toSorted());
});

it('the panels of the dashboard do not overlap, and each has a query', () => {
  const taken = new Set<string>();
  for (const { type, title, targets, gridPos } of panels) {
    const cell = `${gridPos.x}:${gridPos.y}`;
    expect([title, taken.has(cell)]).toEqual([title, false]);
    taken.add(cell);
    if (type !== 'row') expect([title, targets?.length]).toEqual([title, expect.any(Number)]);
  }
});
