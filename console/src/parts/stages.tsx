import { Progress } from '@mantine/core';
import { formatCredits, inWords } from '../format.ts';
import type { Job } from '../job.ts';
import { DataTable } from './data-table.tsx';
import { Status } from './status.tsx';

/** How far the stages of a bundle are, and what each costs. */
export function Stages({ stages }: { stages: NonNullable<Job['stages']> }) {
  return (
    <DataTable
      label="Stages"
      rows={stages}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Stage', of: ({ name }) => inWords(name) },
        { title: 'Status', of: ({ status }) => <Status value={status} /> },
        {
          title: 'Progress',
          of: ({ name, progress }) => (
            <Progress value={progress * 100} w="8rem" aria-label={`Progress of ${inWords(name)}`} />
          ),
        },
        {
          title: 'Charged',
          of: ({ credits }) => `${formatCredits(credits.charged)} of ${formatCredits(credits.reserved)}`,
        },
        { title: 'Error', of: ({ error }) => error?.message ?? '–', wraps: true },
      ]}
    />
  );
}
