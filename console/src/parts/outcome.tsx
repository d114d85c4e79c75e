/** What became of a run of the playground: its state, its stages, what was found, and the job as JSON. */
import { Alert, Group, Stack, Tabs, Text } from '@mantine/core';
import { Link } from 'wouter';
import { addressOf, examplesOf } from '../examples.ts';
import { formatCredits } from '../format.ts';
import type { Job } from '../job.ts';
import { Copyable } from './copy.tsx';
import { useObjectUrls } from './file-drop.tsx';
import { ResultPictures } from './overlay.tsx';
import { Stages } from './stages.tsx';
import { Status } from './status.tsx';

export interface Outcome {
  job: Job;
  /** What was sent. */
  files: readonly File[];
}

export default function OutcomeView({ outcome: { job, files } }: { outcome: Outcome }) {
  const pictures = useObjectUrls(files);
  return (
    <section aria-label="Result">
      <Stack>
        <Group gap="xs" role="status">
          <Status value={job.status} />
          <Text size="sm">{formatCredits(job.credits.charged)} charged</Text>
          <Link href={`/console/jobs/${job.id}`} className="mono">
            {job.id}
          </Link>
        </Group>
        {job.error && (
          <Alert color="red" title={job.error.code}>
            {job.error.message}
          </Alert>
        )}
        {job.stages && <Stages stages={job.stages} />}
        <Tabs defaultValue="picture" keepMounted={false}>
          <Tabs.List mb="sm">
            <Tabs.Tab value="picture">Picture</Tabs.Tab>
            <Tabs.Tab value="json">JSON</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="picture">
            <ResultPictures
              pictures={pictures.map((url, index) => ({ url, mediaType: files[index]?.type ?? '' }))}
              result={job.result}
            />
            {!job.livemode && !files.every((file) => isExampleOf(job.endpoint, file)) && (
              <Text size="sm" c="dimmed" mt="xs">
                Test mode answers about its example, whatever the picture: what is drawn does not fit yours.
              </Text>
            )}
          </Tabs.Panel>
          <Tabs.Panel value="json">
            <Copyable text={JSON.stringify(job, null, 2)} label="The job as JSON" />
          </Tabs.Panel>
        </Tabs>
      </Stack>
    </section>
  );
}

const isExampleOf = (slug: string, file: File) => examplesOf(slug).some(({ url }) => url === addressOf(file));
