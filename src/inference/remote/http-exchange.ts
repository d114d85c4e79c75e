/**
 * One request to a server that the operator named, and its whole answer. Nothing is followed: a redirect is an answer like
 * any other.
 */
import { Agent, type Dispatcher } from 'undici';

export interface Exchange {
  method: 'GET' | 'POST' | 'DELETE';
  url: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Of the whole exchange: name, connection, TLS and answer. */
  timeoutMs: number;
  /** Largest answer that is read. */
  maximumBytes: number;
  signal?: AbortSignal | undefined;
}

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** No whole answer came. The message names the server and says why, for the log; it holds nothing secret. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';

  /** Whether the connection ended: often an idle one, which the server closed in the moment it was used again. */
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
  /** PEM certificates to trust instead of the public authorities, and those of `NODE_EXTRA_CA_CERTS`. */
  certificateAuthorities?: string;
}

export function createHttpClient({ certificateAuthorities }: HttpClientOptions = {}): HttpClient {
  // The exchange has one limit, which is the caller's.
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
        const reason = timeout.aborted ? `no answer within ${timeoutMs} ms` : (error as Error).message;
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
    // Leaving the loop ends the connection.
    if (bytes > maximumBytes) throw new NoAnswerError(`${origin}: the answer has more than ${maximumBytes} bytes`);
    chunks.push(chunk);
  }
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) };
}
