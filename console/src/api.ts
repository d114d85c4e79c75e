/** The management API, as the pages use it. */
import {
  keepPreviousData,
  type QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef, useSyncExternalStore } from 'react';
import type { Member } from '../../src/client/management.ts';
import { currentToken, waitForSignIn } from './session.ts';

/** A refusal, in the service's words. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly docUrl: string;
  readonly requestId: string;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.param = body.param;
    this.docUrl = body.doc_url;
    this.requestId = body.request_id;
  }
}

/** Nobody answered, or only a proxy. */
export class AwayError extends Error {}

interface ErrorBody {
  code: string;
  message: string;
  param?: string;
  doc_url: string;
  request_id: string;
}

export interface Page<Item> {
  data: Item[];
  has_more: boolean;
}

type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface Details {
  query?: Query;
  body?: object;
  /** Makes a POST safe to repeat. */
  idempotencyKey?: string;
  /** The answer is text of this type, not JSON. */
  accept?: string;
  signal?: AbortSignal;
}

/** The one refusal that says that the service is away; other 503 say what is missing. */
const AWAY_CODE = 'service_unavailable';
const SLOWEST_RETRY_MS = 4_000;
/** A service that does not answer for so long is away: longer than it may take, shorter than people wait. */
const ANSWER_MS = 15_000;

let isAway = false;
let probe: number | undefined;
const listeners = new Set<() => void>();

/** Whether the service answered nothing of late. */
export function useIsAway(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isAway,
  );
}

export function noteAway(away: boolean): void {
  if (away === isAway) return;
  isAway = away;
  window.clearInterval(probe);
  // Not every page reads something again by itself.
  if (away) probe = window.setInterval(() => void askAfter(), SLOWEST_RETRY_MS);
  for (const listener of listeners) listener();
}

async function askAfter(): Promise<void> {
  const { ok } = await fetch('/health/ready', { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => ({ ok: false }));
  if (ok) noteAway(false);
}

/** @throws ApiError, AwayError. An expired session is no error: the request waits until somebody signs in again. */
export async function request<Answer>(method: Method, path: string, details: Details = {}): Promise<Answer> {
  const { query = {}, body, idempotencyKey, accept, signal } = details;
  for (;;) {
    const token = currentToken();
    const response = await send(`/mgmt/v1${path}${queryOf(query)}`, {
      method,
      headers: {
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(body && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...(accept !== undefined && { Accept: accept }),
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (response.status === 204) {
      noteAway(false);
      return undefined as Answer;
    }
    const isText = accept !== undefined && (response.headers.get('Content-Type') ?? '').startsWith(accept);
    const read = isText ? response.text() : response.json();
    const answer = (await read.catch(() => null)) as (Answer & { error?: ErrorBody }) | null;
    noteAway(answer === null || answer.error?.code === AWAY_CODE);
    if (response.ok && answer !== null) return answer;
    if (!answer?.error) throw new AwayError('The service answered with something else than its API.');
    if (answer.error.code !== 'token_expired' && answer.error.code !== 'missing_token') {
      throw new ApiError(response.status, answer.error);
    }
    await waitForSignIn(token);
  }
}

/** The same, but while the service is away it is asked again: for what somebody waits for anyway. */
export async function requestUntilAnswered<Answer>(method: Method, path: string, details?: Details): Promise<Answer> {
  for (;;) {
    try {
      return await request<Answer>(method, path, details);
    } catch (error) {
      if (!saysAway(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, SLOWEST_RETRY_MS));
    }
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  try {
    const timeout = AbortSignal.timeout(ANSWER_MS);
    return await fetch(path, { ...init, signal: init.signal ? AbortSignal.any([init.signal, timeout]) : timeout });
  } catch (cause) {
    if (init.signal?.aborted) throw cause;
    noteAway(true);
    throw new AwayError('The service cannot be reached.', { cause });
  }
}

function queryOf(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== '') parameters.append(name, String(item));
    }
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

const saysAway = (error: unknown) =>
  error instanceof AwayError || (error instanceof ApiError && error.code === AWAY_CODE);

/** While the service is away, reads are repeated until it is back. */
export const queryDefaults = {
  networkMode: 'always',
  retry: (_count: number, error: Error) => saysAway(error),
  retryDelay: (count: number) => Math.min(500 * 2 ** count, SLOWEST_RETRY_MS),
} as const;

interface GetOptions<Answer> {
  query?: Query;
  enabled?: boolean;
  refetchMs?: number | ((answer: Answer | undefined) => number | false);
  /** Shows the answer to the former query until that to the next one is there, so that what is typed below it stays. */
  keepsFormer?: boolean;
}

export function useGet<Answer>(path: string, options: GetOptions<Answer> = {}): UseQueryResult<Answer> {
  const { query = {}, enabled = true, refetchMs = false, keepsFormer = false } = options;
  return useQuery<Answer>({
    queryKey: [path, query],
    queryFn: ({ signal }) => request<Answer>('GET', path, { query, signal }),
    enabled,
    ...(keepsFormer && { placeholderData: keepPreviousData }),
    refetchInterval: typeof refetchMs === 'function' ? ({ state }) => refetchMs(state.data) : refetchMs,
  });
}

/** A list, page by page, newest first. */
export function usePages<Item extends { id: string }>(
  path: string,
  query: Query = {},
  refetchMs: number | false = false,
) {
  return useInfiniteQuery({
    queryKey: [path, query],
    queryFn: ({ pageParam, signal }) =>
      request<Page<Item>>('GET', path, { query: { ...query, starting_after: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ data, has_more: hasMore }) => (hasMore ? data.at(-1)?.id : undefined),
    refetchInterval: refetchMs,
  });
}

/**
 * A change. Afterwards everything below the given paths is read again. Repeated after an answer that was lost, it is the same
 * request: nothing is made twice.
 */
export function useChange<Input, Answer>(
  change: (input: Input, idempotencyKey: string) => Promise<Answer>,
  refreshed: readonly string[],
): UseMutationResult<Answer, Error, Input> {
  const client = useQueryClient();
  const lost = useRef<{ input: string; key: string } | null>(null);
  return useMutation<Answer, Error, Input>({
    async mutationFn(given) {
      const input = JSON.stringify(given) ?? '';
      const key = lost.current?.input === input ? lost.current.key : crypto.randomUUID();
      lost.current = { input, key };
      const answer = await change(given, key).catch((error: unknown) => {
        if (!(error instanceof AwayError)) lost.current = null;
        throw error;
      });
      lost.current = null;
      return answer;
    },
    networkMode: 'always',
    onSuccess: () => refresh(client, refreshed),
  });
}

function refresh(client: QueryClient, paths: readonly string[]): Promise<void> {
  return client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => paths.some((start) => String(path).startsWith(start)),
  });
}

export const useMember = () => useGet<Member>('/member');

/** Whether the role of the member has a permission. False until that is known. */
export function useMay(): (permission: string) => boolean {
  const { data } = useMember();
  return (permission) => data?.permissions.includes(permission) ?? false;
}
