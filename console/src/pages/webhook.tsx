/** One webhook endpoint: its health, its deliveries with what they sent, and what can be done about failures. */
import { Accordion, Alert, Button, Group, Modal, Select, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type {
  WebhookDelivery,
  WebhookDeliveryBody,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
  WebhookReplay,
} from '../../../src/client/management.ts';
import { request, useChange, useGet, useMay, usePages } from '../api.ts';
import { formatNumber, formatTime, modeOf } from '../format.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Copyable } from '../parts/copy.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { EndpointForm, type TypedEndpoint } from '../parts/endpoint-form.tsx';
import { More } from '../parts/more.tsx';
import { SecretDialogue } from '../parts/secret.tsx';
import { Empty, Failure, Loading, PageHead, Shown } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';
import { healthOf } from './webhooks.tsx';

const REFRESH_MS = 3_000;
const DAY_SECONDS = 86_400;

export default function WebhookPage({ id }: { id: string }) {
  const endpoint = useGet<WebhookEndpoint>(`/webhook-endpoints/${id}`, { refetchMs: REFRESH_MS });
  if (endpoint.data) return <WebhookView endpoint={endpoint.data} />;
  return (
    <>
      <PageHead title="Webhook endpoint" />
      <Shown of={endpoint}>{() => null}</Shown>
    </>
  );
}

function WebhookView({ endpoint }: { endpoint: WebhookEndpoint }) {
  const path = `/webhook-endpoints/${endpoint.id}`;
  const [status, setStatus] = useState<string | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [asked, setAsked] = useState<'change' | 'disable' | 'rotate' | 'delete' | null>(null);
  // Fixed, so that a repeated request is the same one.
  const [replayedSince] = useState(() => Math.floor(Date.now() / 1_000) - 30 * DAY_SECONDS);
  const [, navigate] = useLocation();
  const may = useMay();
  const deliveries = usePages<WebhookDelivery>(
    `${path}/deliveries`,
    { limit: 20, status: status ?? undefined },
    REFRESH_MS,
  );
  const rows = deliveries.data?.pages.flatMap((page) => page.data);

  const enable = usePost<WebhookEndpoint>(`${path}/enable`);
  const test = usePost<WebhookDelivery>(`${path}/test`);
  const rotate = usePost<WebhookEndpointWithSecret>(`${path}/rotate-secret`, { grace_seconds: DAY_SECONDS });
  const replay = usePost<WebhookReplay>(`${path}/replay`, { since: replayedSince });
  const disable = useChange(
    (status: 'disabled') => request('PATCH', path, { body: { status } }),
    ['/webhook-endpoints'],
  );
  const remove = useChange((removed: string) => request('DELETE', removed), []);
  const failure = [enable, test, replay].find(({ error }) => error !== null)?.error;
  const isEnabled = endpoint.status === 'enabled';

  return (
    <>
      <PageHead title="Webhook endpoint">
        <Status value={modeOf(endpoint)} />
        <Status value={endpoint.status} />
      </PageHead>
      <Stack gap="lg">
        <div>
          <Text className="mono">{endpoint.url}</Text>
          <Text c="dimmed">{endpoint.description}</Text>
        </div>
        {!isEnabled && (
          <Alert color="red" title="This endpoint is disabled: it receives nothing">
            <Stack align="start" gap="sm">
              <Text size="sm">
                An endpoint is disabled after a day of failures, by a receiver that says it is gone, or by a member.
                {endpoint.last_error !== null && ` The last failure: ${endpoint.last_error}.`} Mend the receiver, enable
                the endpoint, and replay what failed.
              </Text>
              {may('webhook_endpoints:write') && (
                <Button size="xs" loading={enable.isPending} onClick={() => enable.mutate(undefined)}>
                  Enable again
                </Button>
              )}
            </Stack>
          </Alert>
        )}
        <dl className="facts">
          <div>
            <dt>Health</dt>
            <dd>{healthOf(endpoint)}</dd>
          </div>
          <div>
            <dt>Last failure</dt>
            <dd>{endpoint.last_error ?? 'none'}</dd>
          </div>
          <div>
            <dt>Events</dt>
            <dd>{endpoint.events.join(', ')}</dd>
          </div>
          {endpoint.previous_secret_expires_at !== null && (
            <div>
              <dt>Also signed with the previous secret until</dt>
              <dd>{formatTime(endpoint.previous_secret_expires_at)}</dd>
            </div>
          )}
        </dl>
        {may('webhook_endpoints:write') && (
          <Group gap="xs">
            <Button
              variant="default"
              disabled={!isEnabled}
              loading={test.isPending}
              onClick={() => test.mutate(undefined)}
            >
              Send a test event
            </Button>
            <Button
              variant="default"
              disabled={!isEnabled}
              loading={replay.isPending}
              onClick={() => replay.mutate(undefined)}
            >
              Replay all failed
            </Button>
            <Button variant="default" onClick={() => setAsked('change')}>
              Change
            </Button>
            <Button variant="default" onClick={() => setAsked('rotate')}>
              Rotate the secret
            </Button>
            {isEnabled && (
              <Button variant="default" onClick={() => setAsked('disable')}>
                Disable
              </Button>
            )}
            <Button variant="default" onClick={() => setAsked('delete')}>
              Delete
            </Button>
          </Group>
        )}
        {failure && <Failure error={failure} />}
        <Text role="status" size="sm">
          {test.data && `The test event was answered: ${test.data.status}.`}{' '}
          {replay.data && replayed(replay.data.replayed)}
        </Text>
        <section aria-label="Deliveries">
          <Group justify="space-between" mb="sm" align="end">
            <Title order={2} size="h4">
              Deliveries
            </Title>
            <Select
              aria-label="Status of the deliveries"
              placeholder="all"
              data={['pending', 'delivered', 'failed']}
              value={status}
              onChange={setStatus}
              clearable
              w="10rem"
            />
          </Group>
          {deliveries.error && <Failure error={deliveries.error} onRetry={() => void deliveries.refetch()} />}
          {!rows && !deliveries.error && <Loading />}
          {rows?.length === 0 && <Empty title="No deliveries">Send a test event, or run a job of this mode.</Empty>}
          {rows && rows.length > 0 && (
            <Accordion variant="separated" order={3}>
              {rows.map((delivery) => (
                <Delivery
                  key={delivery.id}
                  delivery={delivery}
                  path={path}
                  mayReplay={isEnabled && may('webhook_endpoints:write')}
                />
              ))}
            </Accordion>
          )}
          <More pages={deliveries} />
        </section>
      </Stack>
      <SecretDialogue title="The new signing secret" secret={secret} onClose={() => setSecret(null)} />
      {asked === 'change' && <Change endpoint={endpoint} onClose={() => setAsked(null)} />}
      <Confirm
        opened={asked === 'rotate'}
        title="Rotate the signing secret?"
        text="Deliveries are signed with both secrets for a day. The new one is shown once."
        action="Rotate it"
        isBusy={rotate.isPending}
        error={rotate.error}
        onConfirm={() =>
          rotate.mutate(undefined, {
            onSuccess: (answer) => {
              setAsked(null);
              setSecret(answer.secret);
            },
          })
        }
        onClose={() => setAsked(null)}
      />
      <Confirm
        opened={asked === 'disable'}
        title="Disable this endpoint?"
        text="It receives nothing more, and its pending deliveries end as failed. They can be replayed after it is enabled again."
        action="Disable it"
        isBusy={disable.isPending}
        error={disable.error}
        onConfirm={() => disable.mutate('disabled', { onSuccess: () => setAsked(null) })}
        onClose={() => setAsked(null)}
      />
      <Confirm
        opened={asked === 'delete'}
        title="Delete this endpoint?"
        text="Its pending deliveries end, and its delivery log goes with it. The events stay."
        action="Delete it"
        isBusy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(path, { onSuccess: () => navigate('/console/webhooks') })}
        onClose={() => setAsked(null)}
      />
    </>
  );
}

function Change({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const { url, description, events } = endpoint;
  const [typed, setTyped] = useState<TypedEndpoint>({ url, description, events: [...events] });
  const change = useChange(
    (changed: TypedEndpoint) => request('PATCH', `/webhook-endpoints/${endpoint.id}`, { body: changed }),
    ['/webhook-endpoints'],
  );
  return (
    <Modal opened onClose={onClose} title="Change this endpoint" size="lg">
      <EndpointForm
        typed={typed}
        action="Change it"
        isBusy={change.isPending}
        error={change.error}
        onChange={(changed) => setTyped((before) => ({ ...before, ...changed }))}
        onSubmit={() => change.mutate(typed, { onSuccess: onClose })}
      />
    </Modal>
  );
}

/** Test events are not replayed. */
function replayed(count: number): string {
  if (count === 0) return 'No delivery is left to replay; test events are not replayed.';
  return count === 1 ? 'One delivery is replayed.' : `${formatNumber(count)} deliveries are replayed.`;
}

function usePost<Answer>(path: string, body: object = {}) {
  return useChange(
    (_: undefined, idempotencyKey) => request<Answer>('POST', path, { idempotencyKey, body }),
    ['/webhook-endpoints'],
  );
}

function Delivery({ delivery, path, mayReplay }: { delivery: WebhookDelivery; path: string; mayReplay: boolean }) {
  const { id, event_type, status, created, test, attempts, next_attempt_at, replay_of } = delivery;
  const [isOpen, setIsOpen] = useState(false);
  const body = useGet<WebhookDeliveryBody>(`${path}/deliveries/${id}/body`, { enabled: isOpen });
  const replay = useChange(
    (_: undefined, idempotencyKey) =>
      request<WebhookDelivery>('POST', `${path}/deliveries/${id}/replay`, { idempotencyKey, body: {} }),
    ['/webhook-endpoints'],
  );
  return (
    <Accordion.Item value={id}>
      <Accordion.Control onClick={() => setIsOpen(true)}>
        <Group gap="sm">
          <Status value={status} />
          <Text fw={600}>{event_type}</Text>
          {test && <Text c="dimmed">test event</Text>}
          {replay_of !== null && <Text c="dimmed">replay</Text>}
          <Text size="sm">{formatTime(created)}</Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack>
          <Text size="sm" className="mono">
            {id}
          </Text>
          {attempts.length > 0 && (
            <DataTable
              label="Attempts"
              rows={attempts}
              keyOf={({ attempt }) => String(attempt)}
              columns={[
                { title: 'Attempt', of: ({ attempt }) => attempt },
                { title: 'Time', of: ({ attempted_at: time }) => formatTime(time) },
                { title: 'Took', of: ({ duration_ms: ms }) => `${formatNumber(ms)} ms` },
                { title: 'Answer', of: ({ http_status: status }) => status ?? 'none' },
                { title: 'Error', of: ({ error }) => error ?? '–', wraps: true },
              ]}
            />
          )}
          {next_attempt_at !== null && <Text size="sm">Next attempt {formatTime(next_attempt_at)}</Text>}
          <Shown of={body}>{(answer) => <Copyable text={readable(answer.body)} label="What was sent" />}</Shown>
          {replay.error && <Failure error={replay.error} />}
          {mayReplay && status !== 'pending' && (
            <Group>
              <Button size="xs" loading={replay.isPending} onClick={() => replay.mutate(undefined)}>
                Replay
              </Button>
            </Group>
          )}
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
}

/** The service sends JSON without spaces. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
