/** Any endpoint with a picture of one's own: its price, its result, and the same call as a program. */
import { Alert, Button, Group, SegmentedControl, Select, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { VehicleInferenceClient } from '../../../src/client/client.ts';
import { ApiError as ClientError } from '../../../src/client/errors.ts';
import type { ListOrganizationEndpointsResponse } from '../../../src/client/management.ts';
import { type Page, useGet, useMay } from '../api.ts';
import { examplesOf } from '../examples.ts';
import { capitalised, formatCredits } from '../format.ts';
import { isOpen, type Job } from '../job.ts';
import { FileDrop, keptFor } from '../parts/file-drop.tsx';
import type { Outcome } from '../parts/outcome.tsx';
import {
  namesJob,
  ParameterForm,
  type ParameterSchema,
  parametersOf,
  requiredExample,
  type Typed,
} from '../parts/parameters.tsx';
import { Empty, Failure, Loading, PageHead, Shown } from '../parts/states.tsx';

type Endpoint = ListOrganizationEndpointsResponse['data'][number];

const FIRST = 'dashboard.read';

const Calls = lazy(() => import('../parts/calls.tsx'));
const loadOutcome = () => import('../parts/outcome.tsx');
const loadClient = () => import('../playground-client.ts');
const OutcomeView = lazy(loadOutcome);

export default function PlaygroundPage() {
  const [mode, setMode] = useState<'test' | 'live'>('test');
  // In the address, so that going back leads to it and others can be shown it.
  const slug = new URLSearchParams(useSearch()).get('endpoint') ?? FIRST;
  const [path, navigate] = useLocation();
  // Kept when another endpoint is chosen.
  const [files, setFiles] = useState<File[]>([]);
  const endpoints = useGet<ListOrganizationEndpointsResponse>('/endpoints', {
    query: { livemode: mode === 'live' },
    keepsFormer: true,
  });
  const may = useMay();
  return (
    <>
      <PageHead title="Playground" />
      <Shown of={endpoints}>
        {({ data }) => {
          const endpoint = data.find((one) => one.endpoint === slug) ?? data[0];
          return (
            <Stack>
              <Group align="end" gap="sm">
                <Select
                  label="Endpoint"
                  data={groupsOf(data)}
                  value={endpoint?.endpoint ?? null}
                  onChange={(chosen) => {
                    const next = data.find((one) => one.endpoint === chosen);
                    if (!next) return;
                    navigate(`${path}?endpoint=${next.endpoint}`, { replace: true });
                    setFiles(keptFor(next.files, files));
                  }}
                  searchable
                  allowDeselect={false}
                  w="min(100%, 30rem)"
                  maxDropdownHeight={400}
                />
                <SegmentedControl
                  aria-label="Mode"
                  value={mode}
                  onChange={(chosen) => setMode(chosen === 'live' ? 'live' : 'test')}
                  data={[
                    { value: 'test', label: 'Test' },
                    { value: 'live', label: 'Live', disabled: !may('api_keys:write') },
                  ]}
                />
              </Group>
              {endpoint && (
                <Trial
                  key={endpoint.endpoint}
                  endpoint={endpoint}
                  livemode={mode === 'live'}
                  files={files}
                  onFiles={setFiles}
                />
              )}
            </Stack>
          );
        }}
      </Shown>
    </>
  );
}

function groupsOf(endpoints: readonly Endpoint[]) {
  const families = Map.groupBy(endpoints, ({ family }) => family);
  return [...families].map(([family, members]) => ({
    group: capitalised(family),
    items: members.map(({ endpoint, title }) => ({ value: endpoint, label: `${endpoint} – ${title}` })),
  }));
}

interface TrialProps {
  endpoint: Endpoint;
  livemode: boolean;
  files: readonly File[];
  onFiles: (files: File[]) => void;
}

function Trial({ endpoint, livemode, files, onFiles }: TrialProps) {
  const schema = endpoint.parameters as ParameterSchema;
  const [typed, setTyped] = useState<Typed>(() => requiredExample(schema));
  const [scenario, setScenario] = useState<string | null>(null);
  const [busy, setBusy] = useState<'price' | 'run' | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [price, setPrice] = useState<{ text: string; of: readonly unknown[] } | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const may = useMay();
  const jobs = useGet<Page<Job>>('/jobs', {
    query: { status: 'succeeded', livemode, limit: 100 },
    enabled: may('jobs:read') && Object.keys(schema.properties ?? {}).some(namesJob),
  });
  const queries = useQueryClient();
  const running = useRef<AbortController | null>(null);
  const column = useRef<HTMLDivElement>(null);
  useEffect(() => () => running.current?.abort(), []);
  useEffect(() => {
    // On their way once the page is drawn. What fails now is asked for again when it is needed.
    for (const load of [loadOutcome, loadClient]) load().catch(() => {});
  }, []);
  const { files: input } = endpoint;
  const isReady = files.length >= input.minimum;
  const usedScenario = livemode ? null : scenario;
  const asked = [livemode, files, typed, usedScenario];
  const isPriced = price?.of.every((value, index) => value === asked[index]) ?? false;

  const attempt = async (
    what: 'price' | 'run',
    act: (client: VehicleInferenceClient, body: object, signal: AbortSignal) => Promise<void>,
  ) => {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setBusy(what);
    setError(null);
    try {
      const { connect } = await loadClient();
      const client = await connect(livemode);
      // Nobody waits any more: the page was left while the service was away.
      signal.throwIfAborted();
      const parameters = parametersOf(schema, typed);
      await act(client, { ...parameters, ...(await filesOf(client, files, endpoint)) }, signal);
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    } finally {
      setBusy(null);
    }
  };
  const options = usedScenario === null ? {} : { testScenario: usedScenario };

  const askPrice = () =>
    attempt('price', async (client, body, signal) => {
      const { credits, sufficient } = await client.dryRun(endpoint.endpoint as never, body as never, {
        ...options,
        signal,
      });
      const text = `${formatCredits(credits.reserved)} of ${formatCredits(credits.available)}`;
      setPrice({ text: sufficient ? text : `${text}: not enough`, of: asked });
    });

  const run = () =>
    attempt('run', async (client, body, signal) => {
      setOutcome(null);
      const sent = files;
      const show = (job: unknown) => setOutcome({ job: job as Job, files: sent });
      const job = await client.submit(endpoint.endpoint as never, body as never, { ...options, signal });
      show(job);
      // On a phone the result is far below the button.
      if ((column.current?.getBoundingClientRect().top ?? 0) > window.innerHeight) column.current?.scrollIntoView();
      await follow(client, job, show, signal);
      await queries.invalidateQueries({ predicate: ({ queryKey: [path] }) => path !== '/endpoints' });
    });

  return (
    <div className="trial">
      <Stack>
        {endpoint.preview && (
          <Text size="sm" c="dimmed">
            A preview: the weights that come along show how it works; bring your own for production.
          </Text>
        )}
        {!endpoint.available && (
          <Alert color="yellow" title="No model is installed for live keys">
            A live request is refused with endpoint_unavailable. Test mode answers from fixtures.
          </Alert>
        )}
        {input.maximum > 0 && (
          <FileDrop input={input} files={files} examples={examplesOf(endpoint.endpoint)} onChange={onFiles} />
        )}
        {!livemode && (
          <Select
            label="Scenario"
            description={scenario === null ? 'What the fixtures answer.' : endpoint.scenarios[scenario]}
            placeholder="default"
            data={[...endpoint.test_scenarios]}
            value={scenario}
            onChange={setScenario}
            clearable
            searchable
          />
        )}
        <Group>
          <Button onClick={() => void run()} loading={busy === 'run'} disabled={!isReady || busy === 'price'}>
            Run
          </Button>
          <Button
            variant="default"
            onClick={() => void askPrice()}
            loading={busy === 'price'}
            disabled={!isReady || busy === 'run'}
          >
            Ask the price
          </Button>
          <Text size="sm" role="status">
            {isPriced ? `Holds ${price?.text}` : `From ${formatCredits(endpoint.price_credits)}`}
          </Text>
        </Group>
        <Text size="sm" c="dimmed">
          {livemode
            ? 'Live mode runs the installed models and costs live credits.'
            : 'Test mode answers from fixtures and spends test credits, which are free.'}{' '}
          The first run gives you an API key named Playground, valid for an hour; each visit gives it a new secret.
        </Text>
        {error && <RunFailure error={error} />}
        <Title order={2} size="h4">
          Parameters
        </Title>
        <ParameterForm
          schema={schema}
          values={typed}
          problem={problemOf(error)}
          jobs={jobs.data?.data ?? []}
          onChange={setTyped}
        />
      </Stack>
      <Stack ref={column}>
        {outcome ? (
          <Suspense fallback={<Loading />}>
            <OutcomeView outcome={outcome} />
          </Suspense>
        ) : (
          <Empty title="No result yet">{input.minimum > 0 ? 'Choose a file and run it.' : 'Run it.'}</Empty>
        )}
        <Suspense fallback={<Loading />}>
          <Calls endpoint={endpoint} schema={schema} typed={typed} files={files} scenario={usedScenario} />
        </Suspense>
      </Stack>
    </div>
  );
}

function RunFailure({ error }: { error: Error }) {
  if (!(error instanceof ClientError)) return <Failure error={error} />;
  return (
    <Alert color="red" title={error.code} role="alert">
      {error.message} <a href={`/docs/errors/${error.code}`}>What that means</a>
    </Alert>
  );
}

const problemOf = (error: Error | null) =>
  error instanceof ClientError && error.param !== undefined ? { param: error.param, message: error.message } : null;

/** Small pictures go with the request; larger files and videos are uploaded first. */
async function filesOf(
  client: VehicleInferenceClient,
  files: readonly File[],
  { files: input }: Endpoint,
): Promise<object> {
  if (files.length === 0) return {};
  const isDirect = files.every(
    ({ type, size }) => input.direct_media_types.includes(type) && size <= input.maximum_bytes,
  );
  if (isDirect) return { [input.field]: input.maximum === 1 ? files[0] : [...files] };
  const ids: string[] = [];
  for (const file of files) ids.push((await client.upload(file)).id);
  return input.maximum === 1 ? { input_ref: ids[0] } : { input_refs: ids };
}

/** Pushed by the service; polled where the browser cannot read streams piece by piece. */
async function follow(
  client: VehicleInferenceClient,
  job: Job,
  show: (job: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  if (!isOpen(job)) return;
  if (Symbol.asyncIterator in ReadableStream.prototype) {
    for await (const change of client.followJob(job.id, { signal })) show(change);
  } else {
    await client.waitFor(job as never, { onProgress: show, signal });
  }
}
