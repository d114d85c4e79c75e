/** The webhook endpoints of the organisation, and their health. */
import { Button, Modal, SegmentedControl, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { WebhookEndpoint, WebhookEndpointWithSecret } from '../../../src/client/management.ts';
import { request, useChange, useMay, usePages } from '../api.ts';
import { formatNumber, formatTime, modeOf } from '../format.ts';
import { DataTable } from '../parts/data-table.tsx';
import { EndpointForm, EVENTS, type TypedEndpoint } from '../parts/endpoint-form.tsx';
import { More } from '../parts/more.tsx';
import { SecretDialogue } from '../parts/secret.tsx';
import { Empty, Failure, Loading, PageHead } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';

export default function WebhooksPage() {
  const endpoints = usePages<WebhookEndpoint>('/webhook-endpoints', { limit: 25 }, 10_000);
  const [isCreating, setIsCreating] = useState(false);
  const [created, setCreated] = useState<WebhookEndpointWithSecret | null>(null);
  const may = useMay();
  const rows = endpoints.data?.pages.flatMap((page) => page.data);
  return (
    <>
      <PageHead title="Webhooks">
        {may('webhook_endpoints:write') && <Button onClick={() => setIsCreating(true)}>Add an endpoint</Button>}
      </PageHead>
      {endpoints.error && <Failure error={endpoints.error} onRetry={() => void endpoints.refetch()} />}
      {!rows && !endpoints.error && <Loading />}
      {rows?.length === 0 && (
        <Empty title="No webhook endpoints">An endpoint is told when a job ends, so that nobody has to ask.</Empty>
      )}
      {rows && rows.length > 0 && (
        <DataTable
          label="Webhook endpoints"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Address',
              wraps: true,
              of: ({ id, url, description }) => (
                <>
                  <Link className="row-link" href={`/console/webhooks/${id}`}>
                    {url}
                  </Link>
                  <Text size="sm" c="dimmed">
                    {description}
                  </Text>
                </>
              ),
            },
            { title: 'Status', of: ({ status }) => <Status value={status} /> },
            { title: 'Mode', of: (endpoint) => <Status value={modeOf(endpoint)} /> },
            { title: 'Health', of: healthOf, wraps: true },
            { title: 'Events', of: ({ events }) => events.join(', '), wraps: true },
          ]}
        >
          <More pages={endpoints} />
        </DataTable>
      )}
      <Create
        opened={isCreating}
        onClose={() => setIsCreating(false)}
        onDone={(endpoint) => {
          setIsCreating(false);
          setCreated(endpoint);
        }}
      />
      <SecretDialogue title="The signing secret" secret={created?.secret ?? null} onClose={() => setCreated(null)} />
    </>
  );
}

export function healthOf({ failing_since, consecutive_failures, last_success_at }: WebhookEndpoint): string {
  if (failing_since !== null) {
    const attempts = consecutive_failures === 1 ? 'attempt' : 'attempts';
    return `Failing since ${formatTime(failing_since)}: ${formatNumber(consecutive_failures)} ${attempts}, none answered with success`;
  }
  return last_success_at === null ? 'Nothing was sent yet' : `Well: last delivered ${formatTime(last_success_at)}`;
}

interface NewEndpoint extends TypedEndpoint {
  mode: string;
}

/** What was typed stays while the dialogue is closed, until an endpoint is made. */
function Create({
  opened,
  onClose,
  onDone,
}: {
  opened: boolean;
  onClose: () => void;
  onDone: (endpoint: WebhookEndpointWithSecret) => void;
}) {
  const blank: NewEndpoint = { url: '', description: '', mode: 'test', events: EVENTS };
  const [typed, setTyped] = useState(blank);
  const change = (changed: Partial<NewEndpoint>) => setTyped((before) => ({ ...before, ...changed }));
  const create = useChange(
    ({ url, description, mode, events }: NewEndpoint, idempotencyKey) =>
      request<WebhookEndpointWithSecret>('POST', '/webhook-endpoints', {
        idempotencyKey,
        body: { url, description, events, livemode: mode !== 'test', is_staging: mode === 'staging' },
      }),
    ['/webhook-endpoints'],
  );
  return (
    <Modal opened={opened} onClose={onClose} title="Add a webhook endpoint" size="lg">
      <EndpointForm
        typed={typed}
        action="Add it"
        isBusy={create.isPending}
        error={create.error}
        onChange={change}
        onSubmit={() =>
          create.mutate(typed, {
            onSuccess: (endpoint) => {
              setTyped(blank);
              onDone(endpoint);
            },
          })
        }
      >
        <SegmentedControl
          aria-label="Mode"
          value={typed.mode}
          onChange={(mode) => change({ mode })}
          data={['test', 'staging', 'live']}
        />
      </EndpointForm>
    </Modal>
  );
}
