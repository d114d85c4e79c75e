/** API keys: made, rotated with a grace period, revoked. A secret is shown once. */
import {
  Button,
  Checkbox,
  Group,
  Modal,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import type { ApiKey, ApiKeyWithSecret, ListApiKeyScopesResponse } from '../../../src/client/management.ts';
import { request, useChange, useGet, useMay, usePages } from '../api.ts';
import { formatTime, modeOf } from '../format.ts';
import { Confirm } from '../parts/confirm.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { More } from '../parts/more.tsx';
import { SecretDialogue } from '../parts/secret.tsx';
import { Empty, Failure, Loading, PageHead } from '../parts/states.tsx';
import { Status } from '../parts/status.tsx';

type Mode = 'live' | 'staging' | 'test';

interface NewKey {
  name: string;
  mode: Mode;
  scopes: string[];
  /** Days; null: never. */
  expiresAfterDays: number | null;
}

/** Seconds, by what people say. */
const GRACES: Record<string, string> = {
  '0': 'none: it stops at once',
  '3600': 'an hour',
  '86400': 'a day',
  '604800': 'a week',
};
const EXPIRIES: Record<string, string> = {
  never: 'never',
  '1': 'after a day',
  '30': 'after 30 days',
  '365': 'after a year',
};
const optionsOf = (names: Record<string, string>) => Object.entries(names).map(([value, label]) => ({ value, label }));
const DAY_SECONDS = 86_400;
const SCOPES_SHOWN = 4;

export default function KeysPage() {
  const [showsRevoked, setShowsRevoked] = useState(false);
  const keys = usePages<ApiKey>('/api-keys', { limit: 25, revoked: showsRevoked ? undefined : false });
  const [dialogue, setDialogue] = useState<{ kind: 'create' } | { kind: 'rotate' | 'revoke'; key: ApiKey } | null>(
    null,
  );
  const [shown, setShown] = useState<ApiKeyWithSecret | null>(null);
  const may = useMay();
  const rows = keys.data?.pages.flatMap((page) => page.data);
  const mayChange = ({ livemode }: ApiKey) => may(livemode ? 'api_keys:write' : 'test_api_keys:write');
  const close = () => setDialogue(null);
  const finish = (key: ApiKeyWithSecret) => {
    close();
    setShown(key);
  };

  return (
    <>
      <PageHead title="API keys">
        <Switch
          label="Show revoked keys"
          checked={showsRevoked}
          onChange={({ currentTarget }) => setShowsRevoked(currentTarget.checked)}
        />
        {may('test_api_keys:write') && <Button onClick={() => setDialogue({ kind: 'create' })}>Make a key</Button>}
      </PageHead>
      {keys.error && <Failure error={keys.error} onRetry={() => void keys.refetch()} />}
      {!rows && !keys.error && <Loading />}
      {rows?.length === 0 && <Empty title="No keys">Programs call the service with a key.</Empty>}
      {rows && rows.length > 0 && (
        <DataTable
          label="API keys"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Name', of: ({ name }) => name, wraps: true },
            { title: 'Mode', of: (key) => <Status value={modeOf(key)} /> },
            { title: 'Begins with', of: ({ prefix }) => `${prefix}…`, isMono: true },
            {
              title: 'Scopes',
              of: ({ scopes }) => <span title={scopes.join(', ')}>{inShort(scopes)}</span>,
              wraps: true,
            },
            {
              title: 'Last used',
              of: (key) => (key.last_used_at === null ? 'never' : formatTime(key.last_used_at)),
              wraps: true,
            },
            { title: 'Ends', of: endOf, wraps: true },
            {
              title: 'Changes',
              hidesTitle: true,
              of: (key) =>
                key.revoked_at === null &&
                mayChange(key) && (
                  <Group gap="xs" wrap="nowrap">
                    <Button size="xs" variant="default" onClick={() => setDialogue({ kind: 'rotate', key })}>
                      Rotate
                    </Button>
                    <Button size="xs" variant="default" onClick={() => setDialogue({ kind: 'revoke', key })}>
                      Revoke
                    </Button>
                  </Group>
                ),
            },
          ]}
        >
          <More pages={keys} />
        </DataTable>
      )}
      <Create opened={dialogue?.kind === 'create'} onClose={close} onDone={finish} />
      {dialogue?.kind === 'rotate' && <Rotate apiKey={dialogue.key} onClose={close} onDone={finish} />}
      {dialogue?.kind === 'revoke' && <Revoke apiKey={dialogue.key} onClose={close} />}
      <SecretDialogue
        title={`The secret of ${shown?.name ?? ''}`}
        secret={shown?.secret ?? null}
        onClose={() => setShown(null)}
      />
    </>
  );
}

/** A key of every scope has seventeen of them. */
function inShort(scopes: readonly string[]): string {
  const shown = scopes.slice(0, SCOPES_SHOWN).join(', ');
  if (scopes.length <= SCOPES_SHOWN) return shown || 'none';
  return `${shown} and ${scopes.length - SCOPES_SHOWN} more`;
}

function endOf({ revoked_at, expires_at, rotates_at }: ApiKey): string {
  if (revoked_at !== null) return `revoked ${formatTime(revoked_at)}`;
  const end = expires_at === null ? 'never' : formatTime(expires_at);
  const isRotating = rotates_at !== null && rotates_at * 1_000 > Date.now();
  return isRotating ? `${end}; previous secret ${formatTime(rotates_at)}` : end;
}

interface DialogueProps {
  onClose: () => void;
  onDone: (key: ApiKeyWithSecret) => void;
}

/** What was typed stays while the dialogue is closed, until a key is made. */
function Create({ opened, onClose, onDone }: DialogueProps & { opened: boolean }) {
  const blank: NewKey = { name: '', mode: 'test', scopes: ['*'], expiresAfterDays: null };
  const [typed, setTyped] = useState(blank);
  const may = useMay();
  const scopes = useGet<ListApiKeyScopesResponse>('/api-key-scopes', { enabled: opened && may('api_key_scopes:read') });
  const create = useChange(
    ({ name, mode, scopes, expiresAfterDays }: NewKey, idempotencyKey) =>
      request<ApiKeyWithSecret>('POST', '/api-keys', {
        idempotencyKey,
        body: {
          name,
          livemode: mode !== 'test',
          is_staging: mode === 'staging',
          scopes,
          ...(expiresAfterDays !== null && {
            expires_at: Math.floor(Date.now() / 1_000) + expiresAfterDays * DAY_SECONDS,
          }),
        },
      }),
    ['/api-keys'],
  );
  const change = (changed: Partial<NewKey>) => setTyped((before) => ({ ...before, ...changed }));
  return (
    <Modal opened={opened} onClose={onClose} title="Make an API key" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate(typed, {
            onSuccess: (key) => {
              setTyped(blank);
              onDone(key);
            },
          });
        }}
      >
        <Stack>
          <TextInput
            label="Name"
            description="What uses it, to recognise it by."
            required
            maxLength={128}
            data-autofocus
            value={typed.name}
            onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          />
          <SegmentedControl
            aria-label="Mode"
            value={typed.mode}
            onChange={(mode) => change({ mode: mode as Mode })}
            data={['test', 'staging', 'live'].map((value) => ({
              value,
              label: value,
              disabled: value !== 'test' && !may('api_keys:write'),
            }))}
          />
          <Checkbox.Group
            label="Scopes"
            description="* stands for every endpoint. Reading comes with writing."
            value={typed.scopes}
            onChange={(chosen) => change({ scopes: chosen })}
          >
            <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }} mt="xs" spacing="xs">
              {(scopes.data?.data ?? ['*', 'jobs:read', 'storage:write']).map((scope) => (
                <Checkbox key={scope} value={scope} label={scope} />
              ))}
            </SimpleGrid>
          </Checkbox.Group>
          <Select
            label="Expires"
            data={optionsOf(EXPIRIES)}
            value={String(typed.expiresAfterDays ?? 'never')}
            onChange={(value) =>
              change({ expiresAfterDays: value === null || value === 'never' ? null : Number(value) })
            }
            allowDeselect={false}
          />
          {create.error && <Failure error={create.error} />}
          <Group justify="flex-end">
            <Button type="submit" loading={create.isPending} disabled={typed.scopes.length === 0}>
              Make it
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function Rotate({ apiKey, onClose, onDone }: DialogueProps & { apiKey: ApiKey }) {
  const [grace, setGrace] = useState('86400');
  const rotate = useChange(
    (graceSeconds: number, idempotencyKey) =>
      request<ApiKeyWithSecret>('POST', `/api-keys/${apiKey.id}/rotate`, {
        idempotencyKey,
        body: { grace_seconds: graceSeconds },
      }),
    ['/api-keys'],
  );
  return (
    <Modal opened onClose={onClose} title={`Rotate ${apiKey.name}`} centered>
      <Stack>
        <Text>The key gets a new secret and keeps its id. The present secret goes on working for a while.</Text>
        <Select
          label="Grace period"
          data={optionsOf(GRACES)}
          value={grace}
          onChange={(value) => setGrace(value ?? grace)}
          allowDeselect={false}
        />
        {rotate.error && <Failure error={rotate.error} />}
        <Group justify="flex-end">
          <Button loading={rotate.isPending} onClick={() => rotate.mutate(Number(grace), { onSuccess: onDone })}>
            Rotate it
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Revoke({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const revoke = useChange(
    (_: undefined, idempotencyKey) => request('POST', `/api-keys/${apiKey.id}/revoke`, { idempotencyKey, body: {} }),
    ['/api-keys'],
  );
  return (
    <Confirm
      opened
      title={`Revoke ${apiKey.name}?`}
      text="Its programs are refused at once. This cannot be undone."
      action="Revoke it"
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}
