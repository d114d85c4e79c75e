/** What the generated client of the management API stands on. */
import {
  connectionOf,
  type HttpOptions,
  type HttpRequest,
  httpOptions,
  listPages,
  queryOf,
  sendRequest,
} from './http.ts';

export interface ManagementOptions {
  /** A member's token. */
  token: string;
  /** Such as `https://api.example.com`. */
  baseUrl: string;
  /** Attempts of one request, the first included. */
  attempts?: number | undefined;
  fetch?: typeof fetch | undefined;
  sleep?: ((durationMs: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

interface Details {
  query?: object;
  body?: object;
  idempotencyKey?: string;
}

const ATTEMPT_TIMEOUT_MS = 60_000;

export class ManagementBase {
  readonly #http: HttpOptions;

  constructor({ token, baseUrl, ...options }: ManagementOptions) {
    this.#http = httpOptions(options, connectionOf(token, baseUrl), ATTEMPT_TIMEOUT_MS);
  }

  protected async send<Answer>(method: HttpRequest['method'], path: string, details: Details = {}): Promise<Answer> {
    const { query = {}, body, idempotencyKey } = details;
    const headers = {
      ...(body && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    };
    const request = { method, path: path + queryOf(query), headers, ...(body && { body: JSON.stringify(body) }) };
    return (await (await sendRequest(this.#http, request)).json()) as Answer;
  }

  protected async sendNothing(method: HttpRequest['method'], path: string): Promise<void> {
    await sendRequest(this.#http, { method, path });
  }

  /** Items from newest to oldest. Pages are fetched on demand. */
  protected pages<Item extends { id: string }>(path: string, query: object): AsyncGenerator<Item> {
    return listPages<Item>(this.#http, path, query);
  }
}
