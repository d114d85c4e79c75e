/** Jobs of the organisation, newest first. */
import { Group, Select } from '@mantine/core';
import { Link, useLocation, useSearch } from 'wouter';
import type { ListOrganizationEndpointsResponse } from '../../../src/client/management.ts';
import { useGet, usePages } from '../api.ts';
import { formatCredits, formatTime, modeOf } from '../format.ts';
import type { Job } from '../job.ts';
import { DataTable } from '../parts/data-table.tsx';
import { More } from '../parts/more.tsx';
import { Empty, Failure, Loading, PageHead } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';

const STATUSES = ['queued', 'processing', 'succeeded', 'partial', 'failed', 'expired', 'canceled'];
const MODES = [
  { value: 'true', label: 'live and staging' },
  { value: 'false', label: 'test' },
];
const REFRESH_MS = 5_000;

export default function JobsPage() {
  const filter = Object.fromEntries(new URLSearchParams(useSearch()));
  const [path, navigate] = useLocation();
  const { data: endpoints } = useGet<ListOrganizationEndpointsResponse>('/endpoints');
  const jobs = usePages<Job>('/jobs', { ...filter, limit: 25 }, REFRESH_MS);
  const rows = jobs.data?.pages.flatMap((page) => page.data);

  const choose = (name: string) => (value: string | null) => {
    const { [name]: _, ...others } = filter;
    const query = new URLSearchParams({ ...others, ...(value !== null && { [name]: value }) }).toString();
    navigate(query === '' ? path : `${path}?${query}`);
  };

  return (
    <>
      <PageHead title="Jobs" />
      <Group className="filters" mb="md" gap="sm" align="end">
        <Select
          label="Status"
          placeholder="all"
          data={STATUSES}
          value={filter.status ?? null}
          onChange={choose('status')}
          clearable
          w="10rem"
        />
        <Select
          label="Endpoint"
          placeholder="all"
          data={endpoints?.data.map(({ endpoint }) => endpoint) ?? []}
          value={filter.endpoint ?? null}
          onChange={choose('endpoint')}
          clearable
          searchable
          w="14rem"
        />
        <Select
          label="Mode"
          placeholder="all"
          data={MODES}
          value={filter.livemode ?? null}
          onChange={choose('livemode')}
          clearable
          w="11rem"
        />
      </Group>
      {jobs.error && <Failure error={jobs.error} onRetry={() => void jobs.refetch()} />}
      {!rows && !jobs.error && <Loading />}
      {rows?.length === 0 && (
        <Empty title="No jobs">Run one in the playground, or send a request with one of your keys.</Empty>
      )}
      {rows && rows.length > 0 && (
        <>
          <JobTable jobs={rows} />
          <More pages={jobs} />
        </>
      )}
    </>
  );
}

export function JobTable({ jobs }: { jobs: readonly Job[] }) {
  return (
    <DataTable
      label="Jobs"
      rows={jobs}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Endpoint',
          of: ({ id, endpoint }) => (
            <Link className="row-link" href={`/console/jobs/${id}`}>
              {endpoint}
            </Link>
          ),
        },
        { title: 'Status', of: ({ status }) => <Status value={status} /> },
        { title: 'Mode', of: (job) => <Status value={modeOf(job)} /> },
        { title: 'Created', of: ({ created }) => formatTime(created) },
        { title: 'Charged', of: ({ credits }) => formatCredits(credits.charged) },
        { title: 'Id', of: ({ id }) => id, isMono: true },
      ]}
    />
  );
}
