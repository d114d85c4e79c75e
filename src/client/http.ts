/** HTTP requests with safe retries. */
import { ApiError, ConnectionError, type ErrorBody } from './errors.ts';
import type { Page } from './types.ts';

export interface HttpOptions {
  apiKey: string;
  baseUrl: string;
  /** Attempts of one request, the first included. */
  attempts: number;
  /** Time limit of one attempt, response included. */
  attemptTimeoutMs: number;
  fetch: typeof fetch;
  /** Resolves after a delay. Tests replace it. */
  sleep: (durationMs: number, signal?: AbortSignal) => Promise<void>;
}

export type RequestBody = string | FormData | Blob;

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A path of the service, or a signed URL of its own. */
  path: string;
  headers?: Record<string, string>;
  body?: RequestBody;
  /** The response is a stream without a time limit. */
  streams?: boolean;
  signal?: AbortSignal | undefined;
}

/** Trimmed. @throws TypeError, whose message does not contain the credential: errors are logged. */
export function connectionOf(credential: string, baseUrl: string): { apiKey: string; baseUrl: string } {
  const apiKey = credential.trim();
  if (!/^[\x21-\x7e]*$/.test(apiKey)) throw new TypeError('the API key or token has characters that none has');
  const url = baseUrl.trim();
  if (!/^https?:\/\/./.test(url)) throw new TypeError(`"${url}" is not an address such as https://api.example.com`);
  return { apiKey, baseUrl: url.replace(/\/+$/, '') };
}

/** What a caller may set. A value that is undefined is as good as none. */
export type GivenOptions = {
  [Name in 'attempts' | 'attemptTimeoutMs' | 'fetch' | 'sleep']?: HttpOptions[Name] | undefined;
};

/** @throws TypeError for attempts that are not a whole number above 0 */
export function httpOptions(
  given: GivenOptions,
  connection: { apiKey: string; baseUrl: string },
  attemptTimeoutMs: number,
): HttpOptions {
  const options = {
    attempts: given.attempts ?? 4,
    attemptTimeoutMs: given.attemptTimeoutMs ?? attemptTimeoutMs,
    fetch: given.fetch ?? fetch,
    sleep: given.sleep ?? pause,
  };
  if (!Number.isInteger(options.attempts) || options.attempts < 1) {
    throw new TypeError(`attempts must be a whole number above 0, not ${options.attempts}`);
  }
  return { ...options, ...connection };
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;
const LONGEST_HINT_MS = 60_000;
/** An id that is empty, `.` or `..`: the address would be that of another resource. */
const LOST_SEGMENT = /\/(?:\.{0,2})(?:\/|\?|$)/;
/** Responses that have no body by definition. */
const EMPTY_STATUSES = new Set([204, 304]);
const RETRIED_STATUSES = new Set([429, 500, 502, 503, 504]);

/**
 * Sends a request and retries lost responses, 429 and 5xx with exponential backoff or after `Retry-After`. A POST carries the
 * same Idempotency-Key in every attempt.
 * @throws ApiError, ConnectionError; TypeError for an id that is none
 */
export async function sendRequest(options: HttpOptions, request: HttpRequest): Promise<Response> {
  if (request.path.startsWith('/') && LOST_SEGMENT.test(request.path)) {
    throw new TypeError(`${request.path} names nothing: an id is empty, "." or ".."`);
  }
  const headers = {
    ...(request.path.startsWith('/') && { Authorization: `Bearer ${options.apiKey}` }),
    ...(request.method === 'POST' && { 'Idempotency-Key': crypto.randomUUID() }),
    ...request.headers,
  };
  const url = request.path.startsWith('/') ? options.baseUrl + request.path : request.path;
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt >= options.attempts;
    const response = await send(options, url, { ...request, headers }).catch((error: unknown) => {
      if (request.signal?.aborted || isLast) throw error;
      return null;
    });
    // A browser hides the 308 of an incomplete upload as it hides a redirect: `upload` asks how much arrived.
    if (response?.type === 'opaqueredirect' && request.method === 'PUT') return response;
    // Neither the key nor a picture follows to an address that nobody named.
    if (response && isRedirect(response)) {
      const { host } = new URL(url);
      const target = response.headers.get('Location') ?? 'another address';
      throw new ConnectionError(`${host} redirects to ${target}; name the address of the service as baseUrl`);
    }
    if (response && (response.ok || response.status === 308)) return response;
    const error = response ? await readError(response) : null;
    if (error && (isLast || !isRetryable(error))) throw error;
    await options.sleep(pauseMs(attempt, response?.headers.get('Retry-After') ?? null), request.signal);
  }
}

async function send(
  options: HttpOptions,
  url: string,
  { method, headers, body, streams = false, signal }: HttpRequest,
): Promise<Response> {
  const limits = [...(signal ? [signal] : []), ...(streams ? [] : [AbortSignal.timeout(options.attemptTimeoutMs)])];
  try {
    // Called without a receiver: browsers refuse a `fetch` with another `this`.
    const { fetch } = options;
    const response = await fetch(url, {
      method,
      // The link of an artefact carries no key and no picture, and may lead on to the bucket.
      redirect: method === 'GET' && !headers?.Authorization ? 'follow' : 'manual',
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
      signal: AbortSignal.any(limits),
    });
    if (response.type === 'opaqueredirect' || (streams && response.ok)) return response;
    // Read the body here, so that a truncated response is retried like a lost one.
    const text = await response.text();
    return new Response(EMPTY_STATUSES.has(response.status) ? null : text, response);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new ConnectionError(`no response from ${new URL(url).host}`, { cause });
  }
}

const isRedirect = ({ type, status, headers }: Response): boolean =>
  type === 'opaqueredirect' || (status > 300 && status < 309 && headers.has('Location'));

async function readError(response: Response): Promise<ApiError | ConnectionError> {
  const body = (await response.json().catch(() => null)) as { error?: ErrorBody } | null;
  if (body?.error?.code) return new ApiError(response.status, body.error);
  return new ConnectionError(`not a response of the service: ${response.status} ${response.statusText}`);
}

function isRetryable(error: ApiError | ConnectionError): boolean {
  if (error instanceof ConnectionError) return true;
  // A missing model does not appear within seconds.
  if (error.code === 'endpoint_unavailable') return false;
  return RETRIED_STATUSES.has(error.status) || error.code === 'idempotency_request_in_progress';
}

/** Exponential backoff with jitter of up to one half, so that clients that failed together do not return together. */
function pauseMs(attempt: number, retryAfter: string | null): number {
  const hintSeconds = Number(retryAfter ?? Number.NaN);
  if (hintSeconds > 0) return Math.min(hintSeconds * 1000, LONGEST_HINT_MS);
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
  return pause * (0.5 + Math.random() / 2);
}

export function pause(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, durationMs);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** The query of the given values, with its question mark. */
export function queryOf(values: object): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return given.length > 0 ? `?${query.toString()}` : '';
}

/** The items of a list, page by page. */
export async function* listPages<Item extends { id: string }>(
  options: HttpOptions,
  path: string,
  filter: object,
): AsyncGenerator<Item> {
  let cursor: string | undefined;
  for (;;) {
    const query = queryOf({ ...filter, starting_after: cursor });
    const page = (await (await sendRequest(options, { method: 'GET', path: path + query })).json()) as Page<Item>;
    yield* page.data;
    cursor = page.data.at(-1)?.id;
    if (!page.has_more || cursor === undefined) return;
  }
}
