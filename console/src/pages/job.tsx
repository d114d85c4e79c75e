/** One job: what it looked at, what it found, what it cost, and whom it told. */
import { Alert, Anchor, Button, Code, Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import type {
  ListOrganizationJobEventsResponse,
  ListOrganizationJobFilesResponse,
} from '../../../src/client/management.ts';
import { useGet } from '../api.ts';
import { formatBytes, formatCredits, formatTime, modeOf } from '../format.ts';
import { isOpen, type Job } from '../job.ts';
import { Copyable } from '../parts/copy.tsx';
import { ResultPictures } from '../parts/overlay.tsx';
import { Stages } from '../parts/stages.tsx';
import { Empty, PageHead, Shown } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { settings } from '../settings.ts';

const REFRESH_MS = 1_000;

export default function JobPage({ id }: { id: string }) {
  const job = useGet<Job>(`/jobs/${id}`, { refetchMs: (answer) => (answer && isOpen(answer) ? REFRESH_MS : false) });
  if (job.data) return <JobView job={job.data} />;
  return (
    <>
      <PageHead title="Job" />
      <Shown of={job}>{() => null}</Shown>
    </>
  );
}

function JobView({ job }: { job: Job }) {
  const path = `/jobs/${job.id}`;
  const files = useGet<ListOrganizationJobFilesResponse>(`${path}/files`);
  const events = useGet<ListOrganizationJobEventsResponse>(`${path}/events`, {
    refetchMs: (answer) => (isUnsettled(job, answer) ? REFRESH_MS : false),
  });
  const { temporalUrl, temporalNamespace } = settings;
  return (
    <>
      <PageHead title={job.endpoint}>
        <Status value={modeOf(job)} />
        <Status value={job.status} />
        {temporalUrl && (
          <Button
            component="a"
            size="xs"
            variant="default"
            target="_blank"
            href={`${temporalUrl}/namespaces/${temporalNamespace}/workflows/${job.id}`}
          >
            Temporal Web
          </Button>
        )}
      </PageHead>
      <Stack gap="xl">
        <Facts job={job} />
        {job.error && (
          <Alert color="red" title={job.error.code}>
            {job.error.message}{' '}
            <Anchor href={`/docs/errors/${job.error.code}`} target="_blank" underline="always">
              What that means
            </Anchor>
          </Alert>
        )}
        {job.stages && <Stages stages={job.stages} />}
        <Tabs defaultValue="pictures" keepMounted={false}>
          <Tabs.List mb="md">
            <Tabs.Tab value="pictures">Pictures</Tabs.Tab>
            <Tabs.Tab value="result">Result</Tabs.Tab>
            <Tabs.Tab value="events">Events and deliveries</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="pictures">
            <Shown of={files}>
              {({ data }) => (
                <>
                  {data.length === 0 && <Empty title="No files">This request carried none.</Empty>}
                  <ResultPictures
                    pictures={data.map(({ url, media_type }) => ({ url, mediaType: media_type }))}
                    result={job.result}
                  />
                  {data.length > 0 && (
                    <Text c="dimmed" size="sm" mt="xs">
                      {data
                        .map(({ field, media_type, bytes }) => `${field}: ${media_type}, ${formatBytes(bytes)}`)
                        .join(' · ')}
                    </Text>
                  )}
                </>
              )}
            </Shown>
          </Tabs.Panel>
          <Tabs.Panel value="result">
            <Copyable text={JSON.stringify(job, null, 2)} label="The job as JSON" />
          </Tabs.Panel>
          <Tabs.Panel value="events">
            <Shown of={events}>{({ data }) => <Events events={data} />}</Shown>
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </>
  );
}

function isUnsettled(job: Job, events: ListOrganizationJobEventsResponse | undefined): boolean {
  return (
    isOpen(job) ||
    (events?.data.some(({ deliveries }) => deliveries.some(({ status }) => status === 'pending')) ?? true)
  );
}

function Facts({ job }: { job: Job }) {
  const facts: [string, string][] = [
    ['Id', job.id],
    ['Created', formatTime(job.created)],
    ['Started', formatTime(job.started_at)],
    ['Ended', formatTime(job.completed_at)],
    ['Model', job.model_version ?? '–'],
    ['Charged', `${formatCredits(job.credits.charged)} of ${formatCredits(job.credits.reserved)} held`],
    ...(job.test_scenario === undefined ? [] : [['Scenario', job.test_scenario] as [string, string]]),
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className={name === 'Id' || name === 'Model' ? 'mono' : ''}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Events({ events }: { events: ListOrganizationJobEventsResponse['data'] }) {
  if (events.length === 0) return <Empty title="No events">A job has its event when it ends.</Empty>;
  return (
    <Stack>
      {events.map(({ event, deliveries }) => (
        <Stack key={event.id} gap="xs">
          <Title order={2} size="h4">
            {event.type}
          </Title>
          <Group gap="xs">
            <Code>{event.id}</Code>
            <Text size="sm">{formatTime(event.created)}</Text>
          </Group>
          {deliveries.length === 0 && <Text c="dimmed">No webhook endpoint receives it.</Text>}
          {deliveries.map((delivery) => (
            <Group key={delivery.id} gap="sm">
              <Status value={delivery.status} />
              <Link href={`/console/webhooks/${delivery.webhook_endpoint_id}`}>{delivery.webhook_endpoint_id}</Link>
              <Text size="sm">
                {delivery.attempts.length} {delivery.attempts.length === 1 ? 'attempt' : 'attempts'}
                {delivery.attempts.at(-1)?.error ? `: ${delivery.attempts.at(-1)?.error}` : ''}
              </Text>
            </Group>
          ))}
        </Stack>
      ))}
    </Stack>
  );
}
