/** The typed client of the Vehicle Inference Service. Needs nothing but the platform's `fetch` and `crypto`. */
import type { JobStatus } from '../contracts/job.ts';
import { JobFailedError, WaitTimeoutError } from './errors.ts';
import { type HttpOptions, type HttpRequest, type RequestBody, sendRequest } from './http.ts';
import type { EndpointInput, EndpointSlug, FileSource, Job, Page, Upload, WebhookEvent } from './types.ts';

export interface ClientOptions {
  apiKey: string;
  /** Such as `https://api.example.com`. */
  baseUrl: string;
  /** Attempts of one request, the first included. */
  attempts?: number;
  fetch?: typeof fetch;
  sleep?: (durationMs: number) => Promise<void>;
}

export interface SubmitOptions {
  /** Makes the submission safe to repeat by yourself, later. Without it the client makes one for its own retries. */
  idempotencyKey?: string;
  /** Seconds the connection may be held for the result; ignored by endpoints that take long. */
  waitSeconds?: number;
  /** Shortens the job's time in the queue, such as `30s` or `5m`. */
  cancelAfter?: string;
  /** Steers test-mode jobs. */
  testScenario?: string;
  signal?: AbortSignal;
}

export interface WaitOptions {
  timeoutMs?: number;
  /** Called whenever the job was read. */
  onProgress?: (job: Job) => void;
  signal?: AbortSignal;
}

export interface ListJobsFilter {
  limit?: number;
  status?: JobStatus;
  endpoint?: EndpointSlug;
  'created[gte]'?: number;
  'created[lt]'?: number;
}

const ENDED: readonly JobStatus[] = ['succeeded', 'partial', 'failed', 'expired', 'canceled'];
const FIRST_POLL_MS = 250;
const SLOWEST_POLL_MS = 5_000;
const WAIT_TIMEOUT_MS = 10 * 60_000;
const WAIT_SECONDS = 30;
const UPLOAD_PART_BYTES = 8 * 1024 * 1024;

export class VehicleInferenceClient {
  readonly #http: HttpOptions;

  constructor({ apiKey, baseUrl, attempts = 4, fetch: send = fetch, sleep = pause }: ClientOptions) {
    this.#http = { apiKey, baseUrl: baseUrl.replace(/\/$/, ''), attempts, fetch: send, sleep };
  }

  /**
   * Submits a job and waits for its end, holding the connection where the endpoint allows it and polling where not.
   * Answers a job that succeeded, wholly or in part.
   * @throws ApiError, JobFailedError, WaitTimeoutError
   */
  async run<Slug extends EndpointSlug>(
    slug: Slug,
    input: EndpointInput<Slug>,
    options: SubmitOptions & WaitOptions = {},
  ): Promise<Job<Slug> & { result: NonNullable<Job<Slug>['result']> }> {
    const submitted = await this.submit(slug, input, { waitSeconds: WAIT_SECONDS, ...options });
    const job = await this.waitFor(submitted, options);
    if (job.result === null) throw new JobFailedError(job);
    return job as Job<Slug> & { result: NonNullable<Job<Slug>['result']> };
  }

  /** Submits a job and answers it as it is then: queued, or ended when `waitSeconds` sufficed. */
  async submit<Slug extends EndpointSlug>(
    slug: Slug,
    input: EndpointInput<Slug>,
    options: SubmitOptions = {},
  ): Promise<Job<Slug>> {
    const { body, headers } = encodeInput(input);
    return this.#json({
      method: 'POST',
      path: `/v1/${slug.replaceAll('.', '/')}`,
      body,
      headers: {
        ...headers,
        ...(options.idempotencyKey !== undefined && { 'Idempotency-Key': options.idempotencyKey }),
        ...(options.waitSeconds !== undefined && { Prefer: `wait=${options.waitSeconds}` }),
        ...(options.cancelAfter !== undefined && { 'Cancel-After': options.cancelAfter }),
        ...(options.testScenario !== undefined && { 'X-Service-Test-Scenario': options.testScenario }),
      },
      signal: options.signal,
    });
  }

  /** Polls a job until it has ended. @throws WaitTimeoutError */
  async waitFor<Slug extends EndpointSlug>(job: Job<Slug>, options: WaitOptions = {}): Promise<Job<Slug>> {
    const deadline = Date.now() + (options.timeoutMs ?? WAIT_TIMEOUT_MS);
    let current = job;
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, SLOWEST_POLL_MS)) {
      options.onProgress?.(current);
      if (ENDED.includes(current.status)) return current;
      if (Date.now() >= deadline) throw new WaitTimeoutError(current);
      await this.#http.sleep(pollMs);
      options.signal?.throwIfAborted();
      current = await this.getJob<Slug>(job.id, options.signal);
    }
  }

  /** Where the endpoint is known, name its slug as the type argument: the result then has its type. */
  getJob<Slug extends EndpointSlug = EndpointSlug>(id: string, signal?: AbortSignal): Promise<Job<Slug>> {
    return this.#json({ method: 'GET', path: `/v1/jobs/${encodeURIComponent(id)}`, signal });
  }

  /** @throws ApiError `job_not_cancelable` for a job that was picked up */
  cancelJob(id: string): Promise<Job> {
    return this.#json({ method: 'POST', path: `/v1/jobs/${encodeURIComponent(id)}/cancel` });
  }

  /** Jobs from the newest to the oldest; further pages are fetched as they are needed. */
  listJobs(filter: ListJobsFilter = {}): AsyncGenerator<Job> {
    return this.#list<Job>('/v1/jobs', filter);
  }

  /** Events of the last 30 days, from the newest to the oldest. */
  listEvents(filter: { limit?: number; type?: WebhookEvent['type'] } = {}): AsyncGenerator<WebhookEvent> {
    return this.#list<WebhookEvent>('/v1/events', filter);
  }

  /** Uploads a file in parts, so that a broken connection costs one part. Answers what `input_ref` takes. */
  async upload(file: Blob, options: { filename: string; mimeType?: string; signal?: AbortSignal }): Promise<Upload> {
    const announced = await this.#json<Upload>({
      method: 'POST',
      path: '/v1/uploads',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ filename: options.filename, bytes: file.size, mime_type: options.mimeType ?? file.type }),
      signal: options.signal,
    });
    if (announced.upload_url === undefined) return announced;
    for (let start = announced.received_bytes; ; ) {
      const end = Math.min(start + UPLOAD_PART_BYTES, file.size);
      const response = await sendRequest(this.#http, {
        method: 'PUT',
        path: announced.upload_url,
        headers: { ...announced.upload_headers, 'Content-Range': `bytes ${start}-${end - 1}/${file.size}` },
        body: file.slice(start, end),
        signal: options.signal,
      });
      if (response.status !== 308) return (await response.json()) as Upload;
      start = Number(/-(\d+)$/.exec(response.headers.get('Range') ?? '')?.[1] ?? -1) + 1;
    }
  }

  async #json<Answer>(request: HttpRequest): Promise<Answer> {
    return (await (await sendRequest(this.#http, request)).json()) as Answer;
  }

  async *#list<Item extends { id: string }>(path: string, filter: object): AsyncGenerator<Item> {
    let cursor: string | undefined;
    for (;;) {
      const query = new URLSearchParams(
        Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]),
      );
      if (cursor !== undefined) query.set('starting_after', cursor);
      const page = await this.#json<Page<Item>>({ method: 'GET', path: `${path}?${query.toString()}` });
      yield* page.data;
      cursor = page.data.at(-1)?.id;
      if (!page.has_more || cursor === undefined) return;
    }
  }
}

/** Files make the request multipart; without any it is JSON. Lists and objects travel in multipart as the service reads them. */
function encodeInput(input: object): { body: RequestBody; headers: Record<string, string> } {
  const fields = Object.entries(input).filter(([, value]) => value !== undefined) as [string, unknown][];
  if (!fields.some(([, value]) => filesIn(value).length > 0)) {
    return { body: JSON.stringify(Object.fromEntries(fields)), headers: { 'Content-Type': 'application/json' } };
  }
  const form = new FormData();
  for (const [name, value] of fields) {
    const files = filesIn(value);
    for (const file of files) form.append(name, file instanceof Blob ? file : new Blob([file]), name);
    if (files.length === 0) for (const text of textsOf(value)) form.append(name, text);
  }
  return { body: form, headers: {} };
}

/** Text as it is, a list of texts as repeated parts, anything else as JSON. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  return [JSON.stringify(value)];
}

function filesIn(value: unknown): FileSource[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((item): item is FileSource => item instanceof Blob || item instanceof Uint8Array);
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
