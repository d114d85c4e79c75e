/** `vis run`: files to result, with progress, and without leaving anything half done. */
import { openAsBlob, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import {
  ConnectionError,
  type EndpointSlug,
  FILE_FIELDS,
  type Job,
  type Upload,
  type VehicleInferenceClient,
} from '../../client/index.ts';
import { type Command, connectionOf, type Options, textOf } from '../command.ts';
import { EXIT, ReportedFailure, UsageError } from '../exit-codes.ts';
import { clientOf } from '../settings.ts';
import { megabytes, safe, type Terminal } from '../terminal.ts';
import { cancelOrLeave, followToEnd, showJob } from './jobs.ts';

const SLUGS = Object.keys(FILE_FIELDS) as EndpointSlug[];
/** Larger files are uploaded first, with progress, so that a broken connection costs one part. */
const DIRECT_BYTES = 8 * 1024 * 1024;
const TYPES: Record<string, string> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.mp4': 'video/mp4',
  '.mov': 'video/quicktime',
  '.webm': 'video/webm',
};

export const runCommand: Command = {
  name: 'run',
  summary: 'Run a job on pictures or a video, and show its result',
  arguments: [
    { name: 'endpoint', values: SLUGS },
    { name: 'file', rest: true },
  ],
  options: {
    set: { value: 'name=value', multiple: true, summary: 'a parameter; JSON, or text as it is' },
    resume: { value: 'upload', summary: 'id of an upload that broke off, of the first file' },
    'dry-run': { summary: 'only check the request and say what it costs' },
    'no-wait': { summary: 'submit, and do not wait for the end' },
    'model-version': { value: 'build', summary: 'pin a build, <model>@<release date>' },
    scenario: { value: 'name', summary: 'the outcome in test mode' },
    'idempotency-key': { value: 'key', summary: 'makes repeating this command safe' },
  },
  async run({ terminal, args, rest, options }) {
    const slug = slugOf(args.endpoint ?? '');
    const files = await Promise.all(rest.map(readFile));
    const client = clientOf(terminal, connectionOf(options));
    const parameters = parametersOf(options);
    const input = { ...parameters, ...(await fileInput(client, terminal, slug, files, options)) };
    terminal.signal.throwIfAborted();
    const submission = submissionOf(options);
    if (options['dry-run']) {
      const answer = await client.dryRun(slug, input, submission);
      const { reserved, available } = answer.credits;
      terminal.print(options.json ? JSON.stringify(answer) : `${slug} would hold ${reserved} of ${available} credits`);
      return;
    }
    // Without the signal: only a job that is known can be canceled.
    const job: Job = await client.submit(slug, input, submission);
    if (options['no-wait']) return showJob(terminal, job, options);
    await cancelOrLeave(client, terminal, job, () => followToEnd(client, terminal, job.id, options));
  },
};

function slugOf(name: string): EndpointSlug {
  const slug = SLUGS.find((known) => known === name);
  if (!slug) throw new UsageError(`There is no endpoint ${name}. See: vis endpoints`);
  return slug;
}

async function readFile(path: string): Promise<File> {
  if (!statSync(path).isFile()) throw new UsageError(`${path}: is not a file`);
  const type = TYPES[extname(path).toLowerCase()] ?? '';
  return new File([await openAsBlob(path)], basename(path), { type });
}

/** Values that parse as JSON are sent as such; anything else is text. */
function parametersOf(options: Options): Record<string, unknown> {
  const given = Array.isArray(options.set) ? (options.set as readonly string[]) : [];
  return Object.fromEntries(
    given.map((entry) => {
      const [, name, text = ''] = /^([^=]+)=(.*)$/s.exec(entry) ?? [];
      if (name === undefined) throw new UsageError(`--set ${entry}: write <name>=<value>`);
      return [name, valueFrom(text)];
    }),
  );
}

function valueFrom(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const submissionOf = (options: Options) => {
  const [modelVersion, testScenario, idempotencyKey] = ['model-version', 'scenario', 'idempotency-key'].map((name) =>
    textOf(options, name),
  );
  return {
    ...(modelVersion !== undefined && { modelVersion }),
    ...(testScenario !== undefined && { testScenario }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
};

async function fileInput(
  client: VehicleInferenceClient,
  terminal: Terminal,
  slug: EndpointSlug,
  files: readonly File[],
  options: Options,
): Promise<Record<string, unknown>> {
  const resume = textOf(options, 'resume');
  const field = FILE_FIELDS[slug];
  if (files.length === 0) return {};
  if (field === 'image' && files.length > 1) throw new UsageError(`${slug} takes one file, not ${files.length}.`);
  const isSmall = files.every(({ size }) => size <= DIRECT_BYTES);
  if (field !== null && isSmall && resume === undefined) return { [field]: field === 'image' ? files[0] : files };
  const ids: string[] = [];
  for (const file of files) {
    ids.push(await upload(client, terminal, file, ids.length === 0 ? resume : undefined));
  }
  terminal.endProgress();
  return field === 'images' ? { input_refs: ids } : { input_ref: ids[0] };
}

/** The id of the upload. What broke off can be resumed: the id is in the message. */
async function upload(
  client: VehicleInferenceClient,
  terminal: Terminal,
  file: File,
  resume: string | undefined,
): Promise<string> {
  if (file.type === '' && resume === undefined) {
    const known = Object.keys(TYPES).join(', ');
    throw new UsageError(`${safe(file.name)}: the name of a file that is uploaded must end in one of ${known}.`);
  }
  let current: Upload | undefined;
  const onProgress = (state: Upload) => {
    if (state.bytes !== file.size) {
      throw new UsageError(`${state.id} is of a file of ${state.bytes} bytes; ${safe(file.name)} has ${file.size}.`);
    }
    current = state;
    terminal.progress(`uploading ${safe(file.name)}: ${megabytes(state.received_bytes)} of ${megabytes(file.size)} MB`);
  };
  try {
    const { signal } = terminal;
    const done = await client.upload(file, { onProgress, signal, ...(resume !== undefined && { resume }) });
    return done.id;
  } catch (error) {
    terminal.endProgress();
    const isBroken = error instanceof ConnectionError || terminal.signal.aborted;
    if (!current || !isBroken) throw error;
    const state = `${megabytes(current.received_bytes)} of ${megabytes(file.size)} MB arrived`;
    terminal.note(`The upload of ${safe(file.name)} broke off: ${state}. No job was created.`);
    terminal.note(`Continue with the same command and: --resume ${current.id}`);
    throw new ReportedFailure(terminal.signal.aborted ? EXIT.interrupted : EXIT.connection);
  }
}
