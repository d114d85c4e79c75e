/** Who changed what. */
import { Group, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { AuditLogEntry } from '../../../src/client/management.ts';
import { usePages } from '../api.ts';
import { DONE, detailsOf, doneOf, type Run, runsOf } from '../changes.ts';
import { formatTime, inWords } from '../format.ts';
import { DataTable } from '../parts/data-table.tsx';
import { More } from '../parts/more.tsx';
import { Empty, Failure, Loading, PageHead } from '../parts/states.tsx';

const PAUSE_MS = 300;
const ACTIONS = Object.entries(DONE).map(([value, label]) => ({ value, label }));

export default function AuditLogPage() {
  const [typed, setTyped] = useState('');
  const [target] = useDebouncedValue(typed.trim(), PAUSE_MS);
  const [action, setAction] = useState<string | null>(null);
  const entries = usePages<AuditLogEntry>('/audit-log', {
    limit: 25,
    target_id: target || undefined,
    action: action ?? undefined,
  });
  const rows = entries.data && runsOf(entries.data.pages.flatMap((page) => page.data));
  return (
    <>
      <PageHead title="Audit log" />
      <Group className="filters" mb="md" gap="sm" align="end">
        <Select
          label="Change"
          placeholder="all"
          data={ACTIONS}
          value={action}
          onChange={setAction}
          clearable
          searchable
          w="min(100%, 20rem)"
        />
        <TextInput
          label="Changed thing"
          placeholder="key_…, whe_…"
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </Group>
      {entries.error && <Failure error={entries.error} onRetry={() => void entries.refetch()} />}
      {!rows && !entries.error && <Loading />}
      {rows?.length === 0 && <Empty title="No changes">Every change that a member makes is listed here.</Empty>}
      {rows && rows.length > 0 && (
        <DataTable
          label="Changes"
          rows={rows}
          keyOf={([{ id }]) => id}
          columns={[
            { title: 'Time', of: ([{ created }]) => formatTime(created) },
            { title: 'Change', of: (run) => <Change run={run} />, wraps: true },
            {
              title: 'By',
              wraps: true,
              of: ([{ role, user_id: user }]) => (
                <>
                  {inWords(role)} <span className="mono">{user}</span>
                </>
              ),
            },
            { title: 'Of', of: ([{ target_id: id }]) => id, isMono: true },
          ]}
        >
          <More pages={entries} />
        </DataTable>
      )}
    </>
  );
}

function Change({ run }: { run: Run }) {
  const [entry] = run;
  const details = detailsOf(entry);
  return (
    <>
      <Text size="sm">{doneOf(entry)}</Text>
      {details !== '' && (
        <Text size="sm" c="dimmed">
          {details}
        </Text>
      )}
      {run.length > 1 && (
        <Text size="sm" c="dimmed">
          {run.length} times since {formatTime(run.at(-1)?.created ?? null)}
        </Text>
      )}
      <details>
        <summary>JSON</summary>
        <pre className="mono">{JSON.stringify(run.length > 1 ? run : entry, null, 2)}</pre>
      </details>
    </>
  );
}
