/** What somebody wants to know first: today's use, the balance, and what is going wrong. */
import { Alert, Card, Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { GetCreditsResponse, Usage, WebhookEndpoint } from '../../../src/client/management.ts';
import { type Page, useGet, useMay } from '../api.ts';
import { formatCredits, formatNumber } from '../format.ts';
import type { Job } from '../job.ts';
import { Empty, PageHead, Shown } from '../parts/states.tsx';
import { JobTable } from './jobs.tsx';
import { healthOf } from './webhooks.tsx';

const REFRESH_MS = 15_000;
const today = () => new Date().toISOString().slice(0, 10);

export default function HomePage() {
  const may = useMay();
  const day = today();
  const usage = useGet<Usage>('/usage', { query: { from: day, to: day, group_by: ['mode'] }, refetchMs: REFRESH_MS });
  const credits = useGet<GetCreditsResponse>('/credits', { enabled: may('credits:read'), refetchMs: REFRESH_MS });
  return (
    <>
      <PageHead title="Home" />
      <Stack gap="xl">
        <div className="cards">
          {may('webhook_endpoints:read') && <WebhookHealth />}
          <Shown of={usage}>
            {({ data }) =>
              (['live', 'staging', 'test'] as const)
                .filter((mode) => mode !== 'staging' || data.some((group) => group.mode === mode))
                .map((mode) => {
                  const { jobs, credits_charged } = data.find((group) => group.mode === mode) ?? NOTHING;
                  return (
                    <Figure
                      key={mode}
                      title={`Today, ${mode}`}
                      value={`${formatNumber(jobs.total)} ${jobs.total === 1 ? 'job' : 'jobs'}`}
                    >
                      {jobs.partial > 0 && `${formatNumber(jobs.partial)} partial, `}
                      {formatNumber(jobs.failed + jobs.expired)} failed or expired, {formatCredits(credits_charged)}{' '}
                      charged
                    </Figure>
                  );
                })
            }
          </Shown>
          {may('credits:read') && (
            <Shown of={credits}>
              {({ data }) =>
                data.map(({ livemode, available, held, is_low }) => (
                  <Figure
                    key={String(livemode)}
                    title={`Balance, ${livemode ? 'live' : 'test'}`}
                    value={formatCredits(available)}
                  >
                    {is_low ? 'Low. ' : ''}
                    {formatCredits(held)} held by open jobs
                  </Figure>
                ))
              }
            </Shown>
          )}
        </div>
        {may('jobs:read') && <FailingJobs />}
        {may('endpoints:read') && (
          <Text>
            New here? Try an endpoint in the <Link href="/console/playground">playground</Link>.
          </Text>
        )}
      </Stack>
    </>
  );
}

const NOTHING = { jobs: { total: 0, partial: 0, failed: 0, expired: 0 }, credits_charged: 0 };

function Figure({ title, value, children }: { title: string; value: string; children: ReactNode }) {
  return (
    <Card withBorder>
      <Text size="sm" c="dimmed">
        {title}
      </Text>
      <Text size="xl" fw={700}>
        {value}
      </Text>
      <Text size="sm">{children}</Text>
    </Card>
  );
}

function WebhookHealth() {
  const endpoints = useGet<Page<WebhookEndpoint>>('/webhook-endpoints', {
    query: { limit: 100 },
    refetchMs: REFRESH_MS,
  });
  return (
    <Shown of={endpoints}>
      {({ data }) => {
        const ailing = data.filter(({ status, failing_since }) => status === 'disabled' || failing_since !== null);
        return (
          <>
            {ailing.map((endpoint) => (
              <Alert
                key={endpoint.id}
                color={endpoint.status === 'disabled' ? 'red' : 'orange'}
                title={`Webhook ${endpoint.status === 'disabled' ? 'disabled' : 'failing'}`}
              >
                <Link href={`/console/webhooks/${endpoint.id}`}>{endpoint.url}</Link>
                <Text size="sm">{healthOf(endpoint)}</Text>
              </Alert>
            ))}
            {ailing.length === 0 && (
              <Figure title="Webhooks" value={data.length === 0 ? 'None' : 'All well'}>
                {data.length} {data.length === 1 ? 'endpoint' : 'endpoints'}
              </Figure>
            )}
          </>
        );
      }}
    </Shown>
  );
}

function FailingJobs() {
  const failed = useGet<Page<Job>>('/jobs', { query: { status: 'failed', limit: 5 }, refetchMs: REFRESH_MS });
  return (
    <section aria-label="Failed jobs">
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          Jobs that failed last
        </Title>
        <Link href="/console/jobs?status=failed">All failed jobs</Link>
      </Group>
      <Shown of={failed}>
        {({ data }) => (data.length === 0 ? <Empty title="None failed" /> : <JobTable jobs={data} />)}
      </Shown>
    </section>
  );
}
