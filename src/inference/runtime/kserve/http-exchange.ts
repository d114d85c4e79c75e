/** One request to a server in the operator's configuration, and its complete response. Redirects are not followed. */
import { Agent, type Dispatcher } from 'undici';

export interface Exchange {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** For the whole exchange: name lookup, connection, TLS and response. */
  timeoutMs: number;
  /** Largest response body that is read. */
  maximumBytes: number;
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** No complete response arrived. The message names the server and the reason, for the log, and contains no secrets. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';

  /** Whether the connection closed: often an idle one that the server closed just as it was reused. */
  get wasCutOff(): boolean {
    const { code } = (this.cause ?? {}) as { code?: unknown };
    return ['EPIPE', 'ECONNRESET', 'UND_ERR_SOCKET'].includes(String(code));
  }
}

export interface HttpClient {
  /** @throws NoAnswerError; the signal's reason when it is aborted */
  exchange(exchange: Exchange): Promise<Answer>;
  close(): Promise<void>;
}

export interface HttpClientOptions {
  /** PEM certificates to trust in place of the public authorities and `NODE_EXTRA_CA_CERTS`. */
  certificateAuthorities?: string;
}

export function createHttpClient({ certificateAuthorities }: HttpClientOptions = {}): HttpClient {
  // The caller's timeout limits the whole exchange.
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(certificateAuthorities !== undefined && { connect: { ca: certificateAuthorities } }),
  });
  return {
    async exchange({ signal, timeoutMs, ...exchange }) {
      signal?.throwIfAborted();
      const timeout = AbortSignal.timeout(timeoutMs);
      const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
      try {
        return await send(agent, exchange, either);
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof NoAnswerError) throw error;
        const { origin } = new URL(exchange.url);
        const reason = timeout.aborted ? `no response within ${timeoutMs} ms` : (error as Error).message;
        throw new NoAnswerError(`${origin}: ${reason}`, { cause: error });
      }
    },
    close: () => agent.destroy(),
  };
}

async function send(
  agent: Dispatcher,
  { method, url, headers, body, maximumBytes }: Omit<Exchange, 'signal' | 'timeoutMs'>,
  signal: AbortSignal,
): Promise<Answer> {
  const { origin, pathname, search } = new URL(url);
  const answer = await agent.request({
    origin,
    path: pathname + search,
    method,
    headers: headers ?? {},
    body: body ?? null,
    signal,
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > maximumBytes) throw new NoAnswerError(`${origin}: the response has more than ${maximumBytes} bytes`);
    chunks.push(chunk);
  }
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) };
}
