/** Jobs and charged credits by day, endpoint, key and mode. */
import { Group, SegmentedControl, Select, Stack, Text, Title } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { ApiKey, Usage, UsageData } from '../../../src/client/management.ts';
import { type Page, useGet, useMay } from '../api.ts';
import { formatCredits, formatDay, formatNumber } from '../format.ts';
import { DataTable } from '../parts/data-table.tsx';
import { Empty, Loading, PageHead, Shown } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';

const Chart = lazy(() => import('../parts/chart.tsx'));

const DAY_MS = 86_400_000;
const PERIODS = ['7', '30', '92'];
const MODES = ['live', 'staging', 'test'] as const;
type Dimension = 'endpoint' | 'api_key_id' | 'mode';
const DIMENSIONS: Record<string, string> = { endpoint: 'By endpoint', api_key_id: 'By key', mode: 'By mode' };

const GROUPS = { endpoint: 'endpoint', api_key_id: 'api_key' } as const;

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

export default function UsagePage() {
  const [days, setDays] = useState('30');
  const [mode, setMode] = useState<string | null>(null);
  const [dimension, setDimension] = useState<Dimension>('endpoint');
  const now = Date.now();
  const span = { from: dateOf(now - (Number(days) - 1) * DAY_MS), to: dateOf(now), mode: mode ?? undefined };
  const byDay = useGet<Usage>('/usage', { query: { ...span, group_by: ['day', 'mode'] } });
  const grouped = useGet<Usage>('/usage', {
    query: { ...span, group_by: dimension === 'mode' ? ['mode'] : [GROUPS[dimension], 'mode'] },
  });
  return (
    <>
      <PageHead title="Usage">
        <Select
          aria-label="Mode"
          placeholder="all modes"
          data={[...MODES]}
          value={mode}
          onChange={setMode}
          clearable
          w="9rem"
        />
        <SegmentedControl
          aria-label="Period"
          value={days}
          onChange={setDays}
          data={PERIODS.map((value) => ({ value, label: `${value} days` }))}
        />
      </PageHead>
      <Stack gap="xl">
        <Shown of={byDay}>
          {({ data }) => {
            if (data.length === 0) return <Empty title="Nothing was used in this time" />;
            const used = MODES.filter((one) => data.some((group) => group.mode === one));
            return (
              <Suspense fallback={<Loading rows={6} />}>
                <section aria-label="Credits charged by day">
                  <Title order={2} size="h4" mb="sm">
                    Credits charged by day
                  </Title>
                  <Chart
                    rows={everyDay(data, Number(days), now, ({ credits_charged: credits }) => credits)}
                    modes={used}
                    label="Credits charged"
                  />
                </section>
                <section aria-label="Jobs by day">
                  <Title order={2} size="h4" mb="sm">
                    Jobs by day
                  </Title>
                  <Chart
                    rows={everyDay(data, Number(days), now, ({ jobs }) => jobs.total ?? 0)}
                    modes={used}
                    label="Jobs"
                  />
                </section>
              </Suspense>
            );
          }}
        </Shown>
        <section aria-label="Usage by dimension">
          <Group mb="sm">
            <SegmentedControl
              aria-label="Grouped"
              value={dimension}
              onChange={(value) => setDimension(value as Dimension)}
              data={Object.entries(DIMENSIONS).map(([value, label]) => ({ value, label }))}
            />
          </Group>
          <Shown of={grouped}>{({ data }) => <Groups groups={data} dimension={dimension} />}</Shown>
        </section>
      </Stack>
    </>
  );
}

/** Days without a job have no row in the answer, and a bar of nothing in the chart. */
function everyDay(groups: readonly UsageData[], days: number, now: number, measure: (group: UsageData) => number) {
  return Array.from({ length: days }, (_, index) => {
    const date = dateOf(now - (days - 1 - index) * DAY_MS);
    const values = groups.filter(({ day }) => day === date).map((group) => [group.mode ?? '', measure(group)] as const);
    return { day: formatDay(date), ...Object.fromEntries(values) };
  });
}

function Groups({ groups, dimension }: { groups: readonly UsageData[]; dimension: Dimension }) {
  const may = useMay();
  const keys = useGet<Page<ApiKey>>('/api-keys', {
    query: { limit: 100 },
    enabled: dimension === 'api_key_id' && may('api_keys:read'),
  });
  const nameOf = (group: UsageData) => {
    const value = group[dimension] ?? '–';
    return keys.data?.data.find(({ id }) => id === value)?.name ?? value;
  };
  if (groups.length === 0) return <Empty title="Nothing was used in this time" />;
  const of = dimension === 'mode' ? [] : [{ title: dimension === 'endpoint' ? 'Endpoint' : 'Key', of: nameOf }];
  return (
    <>
      <DataTable
        label="Usage"
        rows={[...groups].sort((a, b) => b.credits_charged - a.credits_charged)}
        keyOf={(group) => `${group[dimension]} ${group.mode}`}
        columns={[
          ...of,
          { title: 'Mode', of: ({ mode }) => <Status value={mode ?? ''} /> },
          { title: 'Jobs', of: ({ jobs }) => formatNumber(jobs.total ?? 0) },
          { title: 'Succeeded', of: ({ jobs }) => formatNumber(jobs.succeeded ?? 0) },
          { title: 'Partial', of: ({ jobs }) => formatNumber(jobs.partial ?? 0) },
          { title: 'Failed', of: ({ jobs }) => formatNumber((jobs.failed ?? 0) + (jobs.expired ?? 0)) },
          { title: 'Charged', of: ({ credits_charged: credits }) => formatCredits(credits) },
          { title: 'US dollars', of: ({ mode, charged_usd: usd }) => (mode === 'test' ? 'free' : usd) },
        ]}
      />
      <Text size="sm" c="dimmed" mt="xs">
        Partial: some stages of a bundle failed, and only the others are charged. Failed includes jobs that expired.
        Test credits cost nothing.
      </Text>
    </>
  );
}
