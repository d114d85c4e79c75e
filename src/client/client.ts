/** The typed client of the Vehicle Inference Service. Depends only on the platform's `fetch` and `crypto`. */
import type { JobStatus } from '../contracts/job.ts';
import { ConnectionError, JobFailedError, WaitTimeoutError } from './errors.ts';
import { readEventData } from './event-stream.ts';
import { connectionOf, type HttpOptions, type HttpRequest, httpOptions, listPages, sendRequest } from './http.ts';
import { encodeInput } from './input.ts';
import type { KeyIdentity, SdkLicense, SdkLicenseView } from './management.ts';
import type {
  DryRun,
  EndpointDescription,
  EndpointInput,
  EndpointSlug,
  EventOf,
  FileSource,
  Job,
  ListedEvent,
  Upload,
} from './types.ts';

export interface ClientOptions {
  apiKey: string;
  /** Such as `https://api.example.com`. */
  baseUrl: string;
  /** Attempts of one request, the first included. */
  attempts?: number | undefined;
  /** Time limit of one attempt, response included. It must suffice for one part of an upload. */
  attemptTimeoutMs?: number | undefined;
  fetch?: typeof fetch | undefined;
  sleep?: ((durationMs: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

export interface SubmitOptions {
  /** Makes the submission safe to repeat later, by yourself. Without one, the client generates a key for its own retries. */
  idempotencyKey?: string;
  /** Seconds to hold the connection for the result; ignored by slow endpoints. */
  waitSeconds?: number;
  /** Shortens the job's time in the queue, such as `30s` or `5m`. */
  cancelAfter?: string;
  /** Pins a build, `<model>@<release date>`. */
  modelVersion?: string;
  /** Steers test-mode jobs. */
  testScenario?: string;
  signal?: AbortSignal;
}

export interface WaitOptions {
  timeoutMs?: number;
  /** Called after every read of the job. */
  onProgress?: (job: Job) => void;
  signal?: AbortSignal;
}

export interface UploadOptions {
  /** Defaults to the name of a `File`, and to `file` for other content. */
  filename?: string;
  /** Media type; defaults to the type of a `Blob`. Required for a byte array sent in parts. */
  mimeType?: string;
  /** Id of an earlier, incomplete upload of this file to resume. */
  resume?: string;
  /** Called once the upload has an id, and after every part. */
  onProgress?: (upload: Upload) => void;
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
const LASTING_STREAM_MS = 10_000;
const ATTEMPT_TIMEOUT_MS = 120_000;
/** Size of one part of an upload. Smaller files are sent in one request. */
const UPLOAD_PART_BYTES = 8 * 1024 * 1024;

export class VehicleInferenceClient {
  readonly #http: HttpOptions;

  constructor(options: ClientOptions) {
    this.#http = httpOptions(options, connectionOf(options.apiKey, options.baseUrl), ATTEMPT_TIMEOUT_MS);
  }

  /**
   * Submits a job and waits until it ends, holding the connection if the endpoint allows it and polling otherwise.
   * Resolves to a job that succeeded, fully or partially.
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

  /** Submits a job and returns its current state: queued, or ended if `waitSeconds` sufficed. */
  async submit<Slug extends EndpointSlug>(
    slug: Slug,
    input: EndpointInput<Slug>,
    options: SubmitOptions = {},
  ): Promise<Job<Slug>> {
    return this.#json(inferenceRequest(slug, input, options));
  }

  /** Validates a request and returns its cost without creating a job. @throws ApiError as `submit` */
  async dryRun<Slug extends EndpointSlug>(
    slug: Slug,
    input: EndpointInput<Slug>,
    options: SubmitOptions = {},
  ): Promise<DryRun> {
    return this.#json(inferenceRequest(slug, input, options, '?dry_run=true'));
  }

  /** Polls a job until it has ended. @throws WaitTimeoutError */
  async waitFor<Slug extends EndpointSlug>(job: Job<Slug>, options: WaitOptions = {}): Promise<Job<Slug>> {
    const deadline = Date.now() + (options.timeoutMs ?? WAIT_TIMEOUT_MS);
    let current = job;
    for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * 1.5, SLOWEST_POLL_MS)) {
      options.onProgress?.(current);
      if (ENDED.includes(current.status)) return current;
      if (Date.now() >= deadline) throw new WaitTimeoutError(current);
      await this.#http.sleep(pollMs, options.signal);
      current = await this.getJob<Slug>(job.id, options.signal);
    }
  }

  /**
   * Yields the job at every change until it ends, pushed by the service instead of polled. Reconnects when the connection
   * breaks.
   */
  async *followJob<Slug extends EndpointSlug = EndpointSlug>(
    id: string,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<Job<Slug>> {
    let known = '';
    // The service ends a stream after some minutes; only connections that break soon count as broken.
    for (let breaks = 0; breaks < this.#http.attempts; breaks += 1) {
      const request = { method: 'GET', path: `/v1/jobs/${encodeURIComponent(id)}/events`, streams: true } as const;
      const { body } = await sendRequest(this.#http, { ...request, signal });
      const openedAt = Date.now();
      try {
        for await (const data of readEventData(body ?? new ReadableStream())) {
          if (data === known) continue;
          known = data;
          breaks = 0;
          const job = JSON.parse(data) as Job<Slug>;
          yield job;
          if (ENDED.includes(job.status)) return;
        }
      } catch (error) {
        signal?.throwIfAborted();
        // `fetch` reports a truncated body as a TypeError.
        if (!(error instanceof TypeError)) throw error;
      }
      if (Date.now() - openedAt >= LASTING_STREAM_MS) breaks = 0;
      await this.#http.sleep(FIRST_POLL_MS, signal);
    }
    throw new ConnectionError(`the event stream of ${id} keeps breaking off`);
  }

  /** If the endpoint is known, pass its slug as the type argument to type the result. */
  getJob<Slug extends EndpointSlug = EndpointSlug>(id: string, signal?: AbortSignal): Promise<Job<Slug>> {
    return this.#json({ method: 'GET', path: `/v1/jobs/${encodeURIComponent(id)}`, signal });
  }

  /** @throws ApiError `job_not_cancelable` for a job that was picked up */
  cancelJob(id: string): Promise<Job> {
    return this.#json({ method: 'POST', path: `/v1/jobs/${encodeURIComponent(id)}/cancel` });
  }

  /** Jobs from newest to oldest. Pages are fetched on demand. */
  listJobs(filter: ListJobsFilter = {}): AsyncGenerator<Job> {
    return listPages<Job>(this.#http, '/v1/jobs', filter);
  }

  /** Events of the last 30 days, from newest to oldest. */
  listEvents<Type extends ListedEvent['type'] = ListedEvent['type']>(
    filter: { limit?: number; type?: Type; 'created[gte]'?: number; 'created[lt]'?: number } = {},
  ): AsyncGenerator<EventOf<Type>> {
    return listPages<EventOf<Type>>(this.#http, '/v1/events', filter);
  }

  async getEvent(id: string): Promise<ListedEvent> {
    return JSON.parse(await this.getEventText(id)) as ListedEvent;
  }

  /** The event byte for byte as it is delivered to webhooks, to be signed. */
  async getEventText(id: string, signal?: AbortSignal): Promise<string> {
    const path = `/v1/events/${encodeURIComponent(id)}`;
    return (await sendRequest(this.#http, { method: 'GET', path, signal })).text();
  }

  /** All endpoints with availability, prices and limits. */
  async listEndpoints(): Promise<EndpointDescription[]> {
    const page = await this.#json<{ data: EndpointDescription[] }>({ method: 'GET', path: '/v1/endpoints' });
    return page.data;
  }

  /** Organisation, mode and scopes of the key. */
  getKeyIdentity(): Promise<KeyIdentity> {
    return this.#json({ method: 'GET', path: '/v1/api-keys/self' });
  }

  /** A file that a job made, by the URL of the artefact in its result. */
  async getArtefact(url: string, signal?: AbortSignal): Promise<Blob> {
    const response = await sendRequest(this.#http, { method: 'GET', path: url, streams: true, signal });
    return response.blob();
  }

  getSdkLicense(sdk: string): Promise<SdkLicenseView> {
    return this.#json({ method: 'GET', path: `/v1/sdk-licenses/${encodeURIComponent(sdk)}` });
  }

  issueSdkLicense(sdk: string, options: { regenerate?: boolean } = {}): Promise<SdkLicense> {
    return this.#json({
      method: 'POST',
      path: `/v1/sdk-licenses/${encodeURIComponent(sdk)}`,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(options),
    });
  }

  /** The public keys that verify SDK licences, as a JSON Web Key Set. */
  getLicenseKeys(): Promise<{ keys: readonly Readonly<Record<string, unknown>>[] }> {
    return this.#json({ method: 'GET', path: '/.well-known/jwks.json' });
  }

  getUpload(id: string): Promise<Upload> {
    return this.#json({ method: 'GET', path: `/v1/uploads/${encodeURIComponent(id)}` });
  }

  /**
   * Uploads a file for `input_ref`: a small one in one request, a large one in parts, so that a broken connection costs at
   * most one part. If all attempts fail, call again with `resume`.
   * @throws ApiError, ConnectionError
   */
  async upload(source: FileSource, options: UploadOptions = {}): Promise<Upload> {
    const { resume, signal, onProgress } = options;
    const file = source instanceof Blob ? source : new Blob([source]);
    let upload = resume === undefined ? await this.#beginUpload(file, options) : await this.getUpload(resume);
    onProgress?.(upload);
    while (upload.upload_url !== undefined) {
      const start = upload.received_bytes;
      const end = Math.min(start + UPLOAD_PART_BYTES, file.size);
      // All bytes may have arrived while the response was lost: ask the service for its state.
      const range = start === file.size ? '*' : `${start}-${end - 1}`;
      const response = await sendRequest(this.#http, {
        method: 'PUT',
        path: upload.upload_url,
        headers: { ...upload.upload_headers, 'Content-Range': `bytes ${range}/${file.size}` },
        body: file.slice(start, end),
        signal,
      });
      const isHidden = response.type === 'opaqueredirect';
      upload = isHidden ? await this.getUpload(upload.id) : ((await response.json()) as Upload);
      if (isHidden && upload.upload_url !== undefined && upload.received_bytes <= start) {
        throw new ConnectionError('the address of the upload redirects; name the address of the service as baseUrl');
      }
      onProgress?.(upload);
    }
    return upload;
  }

  #beginUpload(file: Blob, options: UploadOptions): Promise<Upload> {
    const { filename = nameOf(file), mimeType = file.type, signal } = options;
    const request = { method: 'POST', path: '/v1/uploads', signal } as const;
    if (file.size <= UPLOAD_PART_BYTES) {
      const body = new FormData();
      body.append('file', file, filename);
      return this.#json({ ...request, body });
    }
    const announced = { filename, bytes: file.size, mime_type: mimeType };
    return this.#json({
      ...request,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(announced),
    });
  }

  async #json<Answer>(request: HttpRequest): Promise<Answer> {
    return (await (await sendRequest(this.#http, request)).json()) as Answer;
  }
}

function inferenceRequest(slug: string, input: object, options: SubmitOptions, query = ''): HttpRequest {
  const { body, headers } = encodeInput(input);
  return {
    method: 'POST',
    path: `/v1/${slug.replaceAll('.', '/')}${query}`,
    body,
    headers: {
      ...headers,
      ...(options.idempotencyKey !== undefined && { 'Idempotency-Key': options.idempotencyKey }),
      ...(options.waitSeconds !== undefined && { Prefer: `wait=${Math.ceil(options.waitSeconds)}` }),
      ...(options.cancelAfter !== undefined && { 'Cancel-After': options.cancelAfter }),
      ...(options.modelVersion !== undefined && { 'Model-Version': options.modelVersion }),
      ...(options.testScenario !== undefined && { 'X-Service-Test-Scenario': options.testScenario }),
    },
    signal: options.signal,
  };
}

function nameOf(file: Blob): string {
  return (file instanceof File && file.name) || 'file';
}
