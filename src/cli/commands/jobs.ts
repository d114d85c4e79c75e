/** `vis jobs`, and following a job to its end. */
import { ApiError, type Job, type ListJobsFilter, type VehicleInferenceClient } from '../../client/index.ts';
import { type Command, connectionOf, type Options, showList, textOf } from '../command.ts';
import { EXIT, ReportedFailure, UsageError } from '../exit-codes.ts';
import { clientOf } from '../settings.ts';
import { safe, type Terminal, timeOf } from '../terminal.ts';

const STATUSES = ['queued', 'processing', 'succeeded', 'partial', 'failed', 'expired', 'canceled'] as const;

export const jobCommands: Command[] = [
  {
    name: 'jobs list',
    summary: 'List jobs, newest first',
    arguments: [],
    options: {
      limit: { value: 'number', summary: 'how many; 20 unless given' },
      status: { value: 'status', summary: 'only jobs of this status', values: STATUSES },
      endpoint: { value: 'endpoint', summary: 'only jobs of this endpoint' },
    },
    async run({ terminal, options }) {
      const limit = wholeNumber(textOf(options, 'limit') ?? '20', '--limit');
      const jobs: Job[] = [];
      const listed = clientOf(terminal, connectionOf(options)).listJobs({
        limit: Math.min(limit, 100),
        ...filterOf(options),
      });
      for await (const job of listed) {
        jobs.push(job);
        if (jobs.length >= limit) break;
      }
      const header = ['ID', 'ENDPOINT', 'STATUS', 'CREDITS', 'CREATED (UTC)'];
      showList({ terminal, options }, jobs, header, ({ id, endpoint, status, credits, created }) => [
        id,
        endpoint,
        status,
        credits.charged,
        timeOf(created),
      ]);
    },
  },
  {
    name: 'jobs show',
    summary: 'Show a job with its result',
    arguments: [{ name: 'job' }],
    options: {},
    async run({ terminal, args, options }) {
      showJob(
        terminal,
        await clientOf(terminal, connectionOf(options)).getJob(args.job ?? '', terminal.signal),
        options,
      );
    },
  },
  {
    name: 'jobs watch',
    summary: 'Follow a job until it ends, and show its result',
    arguments: [{ name: 'job' }],
    options: {},
    async run({ terminal, args, options }) {
      await followToEnd(clientOf(terminal, connectionOf(options)), terminal, args.job ?? '', options);
    },
  },
  {
    name: 'jobs cancel',
    summary: 'Cancel a queued job',
    arguments: [{ name: 'job' }],
    options: {},
    async run({ terminal, args, options }) {
      showJob(terminal, await clientOf(terminal, connectionOf(options)).cancelJob(args.job ?? ''), options);
    },
  },
];

function filterOf(options: Options): ListJobsFilter {
  const status = textOf(options, 'status');
  const endpoint = textOf(options, 'endpoint');
  return {
    // The service refuses what it does not know, by name.
    ...(status !== undefined && { status: status as NonNullable<ListJobsFilter['status']> }),
    ...(endpoint !== undefined && { endpoint: endpoint as NonNullable<ListJobsFilter['endpoint']> }),
  };
}

export function wholeNumber(text: string, name: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new UsageError(`${name} must be a whole number above 0.`);
  return Number(text);
}

/** Shows each change, then the job. @throws ReportedFailure for a job that ended without a result */
export async function followToEnd(
  client: VehicleInferenceClient,
  terminal: Terminal,
  id: string,
  options: Options,
): Promise<void> {
  let last: Job | undefined;
  for await (last of client.followJob(id, { signal: terminal.signal })) terminal.progress(progressOf(last));
  terminal.endProgress();
  if (!last) return;
  showJob(terminal, last, options);
  if (last.result === null) throw new ReportedFailure(EXIT.jobFailed);
}

/** `job_…: processing, 2 of 5 stages` */
function progressOf({ id, status, stages }: Job): string {
  const ended = stages?.filter((stage) => stage.completed_at !== null).length;
  return `${id}: ${status}${stages ? `, ${ended} of ${stages.length} stages` : ''}`;
}

/** On Ctrl-C, cancels a job that nothing has picked up; any other one goes on, and says how to see it. */
export async function cancelOrLeave(
  client: VehicleInferenceClient,
  terminal: Terminal,
  job: Job,
  wait: () => Promise<void>,
): Promise<void> {
  try {
    await wait();
  } catch (error) {
    if (!terminal.signal.aborted) throw error;
    terminal.endProgress();
    const isCanceled = await client.cancelJob(job.id).then(
      () => true,
      (refusal: unknown) => {
        if (refusal instanceof ApiError) return false;
        throw refusal;
      },
    );
    terminal.note(isCanceled ? `${job.id} is canceled.` : `${job.id} continues. See: vis jobs watch ${job.id}`);
    throw new ReportedFailure(EXIT.interrupted);
  }
}

/** People read the facts first and the result as indented JSON; machines get the job in one line. */
export function showJob(terminal: Terminal, job: Job, options: Options): void {
  const header = ['ID', 'ENDPOINT', 'STATUS', 'CREDITS', 'MODEL'];
  showList({ terminal, options }, [job], header, ({ id, endpoint, status, credits, model_version }) => [
    id,
    endpoint,
    status,
    `${credits.charged} of ${credits.reserved}`,
    model_version,
  ]);
  if (options.json) return;
  if (job.error) terminal.print(safe(`${job.error.code}: ${job.error.message}`));
  if (job.result) terminal.print(JSON.stringify(job.result, null, 2));
}
