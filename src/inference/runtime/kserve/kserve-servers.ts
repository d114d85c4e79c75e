/**
 * Requests of child processes to KServe v2 servers. The worker sends them, so that the operator's keys stay out of processes
 * that decode untrusted files.
 */
import type { KserveServer } from '../../../platform/config/remote-servers.ts';
import type { Log } from '../../../platform/logging/log.ts';
import { type HttpClient, NoAnswerError } from './http-exchange.ts';
import { JSON_LENGTH_HEADER } from './kserve-protocol.ts';

/** A child's request. */
export interface ServerRequest {
  /** Name of a server in `KSERVE_SERVERS`. */
  server: string;
  path: string;
  /** Left out for a GET. */
  body?: { headers: Readonly<Record<string, string>>; content: Uint8Array };
}

/** A server's response, or why there is none. */
export type ServerAnswer =
  | { status: number; content: Uint8Array; jsonLength?: string | undefined }
  /** `mayPass`: another attempt may succeed. */
  | { problem: string; mayPass: boolean };

export type AskServer = (request: ServerRequest, signal: AbortSignal) => Promise<ServerAnswer>;

/** Larger than the outputs of any network that the pipelines support. */
const ANSWER_BYTES = 256 * 1024 * 1024;
/** Paths of the protocol. A child can reach nothing else on the server. */
const READ_PATH = /^\/v2(?:\/health\/ready|\/models\/\w[\w.-]*(?:\/versions\/\w[\w.-]*)?(?:\/ready)?)?$/;
const INFER_PATH = /^\/v2\/models\/\w[\w.-]*(?:\/versions\/\w[\w.-]*)?\/infer$/;
const REQUEST_HEADERS = ['content-type', JSON_LENGTH_HEADER];

interface Dependencies {
  servers: readonly KserveServer[];
  http: HttpClient;
  logger: Log;
}

export function createAskServer({ servers, http, logger }: Dependencies): AskServer {
  const known = new Map(servers.map((server) => [server.name, server]));
  return async ({ server: name, path, body }, signal) => {
    const server = known.get(name);
    if (!server) {
      const names = [...known.keys()].join(', ') || 'none';
      return { problem: `KSERVE_SERVERS has no server ${name}; it has ${names}`, mayPass: false };
    }
    if (!(body ? INFER_PATH : READ_PATH).test(path)) {
      return { problem: `${path} is not a path of the KServe v2 protocol`, mayPass: false };
    }
    const own = Object.entries(body?.headers ?? {}).filter(([header]) => REQUEST_HEADERS.includes(header));
    const exchange = () =>
      http.exchange({
        method: body ? 'POST' : 'GET',
        url: server.url + path,
        headers: { ...server.headers, ...Object.fromEntries(own) },
        ...(body && { body: body.content }),
        timeoutMs: server.timeoutMs,
        maximumBytes: ANSWER_BYTES,
        signal,
      });
    try {
      // Safe to repeat: a network gives the same result twice.
      const answer = await exchange().catch((error: unknown) => {
        if (error instanceof NoAnswerError && error.wasCutOff) return exchange();
        throw error;
      });
      const jsonLength = answer.headers[JSON_LENGTH_HEADER];
      return { status: answer.status, content: answer.body, jsonLength: jsonLength?.toString() };
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      logger.warn({ server: name, path, reason: error.message }, 'a KServe server did not respond');
      return { problem: error.message, mayPass: true };
    }
  };
}
