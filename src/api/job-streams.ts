/** The open event streams of this process: their number, age, keys and buffers are bounded. */
import { PassThrough, type Readable } from 'node:stream';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { FollowedJob, JobFollower } from '../jobs/job-follower.ts';
import type { CallerKey } from '../organizations/callers-store.ts';
import { readUsableScopes } from '../organizations/callers-store.ts';
import type { MikroORM } from '../platform/database/orm.ts';
import { ServiceError } from '../platform/service-error.ts';
import { jobReaderOf } from './job-reader.ts';

export interface StreamLimits {
  /** Streams of one API key. */
  perKey: number;
  /** Streams of this process. */
  total: number;
  maximumAgeMs: number;
  /** How often the keys and ages of streams are checked. */
  checkIntervalMs: number;
  /** How often an idle stream carries a comment, so that proxies keep its connection. */
  heartbeatIntervalMs: number;
  /** A client that lets more than this pile up unread is disconnected. */
  unreadBytes: number;
}

export const STREAM_LIMITS: StreamLimits = {
  perKey: 100,
  total: 5_000,
  maximumAgeMs: 15 * 60_000,
  checkIntervalMs: 5_000,
  heartbeatIntervalMs: 15_000,
  unreadBytes: 1024 * 1024,
};

export interface StreamRequest {
  jobId: string;
  endpoint: string;
  caller: CallerKey;
  /** Hash of the presented secret. */
  secretHash: Uint8Array;
  /** The job at the time of the request: the first event. */
  first: FollowedJob;
}

export interface JobStreams {
  /**
   * Opens a stream of server-sent events. `close` must be called when the client disconnects.
   * @throws ServiceError `concurrency_limit_exceeded`, `service_unavailable`
   */
  open(request: StreamRequest): { events: Readable; close: () => void };
  /** Ends all streams and opens no more. */
  close(): void;
}

interface StreamsDependencies {
  endpoints: readonly EndpointContract[];
  orm: MikroORM;
  follower: JobFollower;
  logger: Logger;
  clock?: () => Date;
  limits?: Partial<StreamLimits>;
}

interface Stream extends StreamRequest {
  openedAtMs: number;
  events: PassThrough;
  end(): void;
}

/** Written to so many streams before other requests of the process get their turn. */
const STREAMS_AT_ONCE = 100;
const RETRY_AFTER = { 'Retry-After': '5' };

export function createJobStreams(dependencies: StreamsDependencies): JobStreams {
  const { endpoints, orm, follower, logger, clock = () => new Date() } = dependencies;
  const limits = { ...STREAM_LIMITS, ...dependencies.limits };
  const streams = new Set<Stream>();
  const openByKey = new Map<string, number>();
  let isClosed = false;
  const heartbeat = setInterval(() => void beat(), limits.heartbeatIntervalMs).unref();
  const check = setInterval(() => void endOutdated(), limits.checkIntervalMs).unref();

  return {
    open(request) {
      admit(request.caller.id);
      return begin(request);
    },
    close() {
      isClosed = true;
      clearInterval(heartbeat);
      clearInterval(check);
      for (const stream of streams) stream.end();
      follower.close();
    },
  };

  /** @throws ServiceError */
  function admit(keyId: string): void {
    if ((openByKey.get(keyId) ?? 0) >= limits.perKey) {
      throw new ServiceError(
        'concurrency_limit_exceeded',
        `This API key has ${limits.perKey} event streams open, the maximum. Close one, or poll the job.`,
        { headers: RETRY_AFTER },
      );
    }
    if (isClosed || streams.size >= limits.total) {
      throw new ServiceError(
        'service_unavailable',
        'No event stream can be opened at the moment. Poll the job instead.',
        {
          headers: RETRY_AFTER,
        },
      );
    }
  }

  function begin(request: StreamRequest): { events: Readable; close: () => void } {
    const { jobId, caller, first } = request;
    const events = new PassThrough();
    let stopFollowing = () => {};
    const stream: Stream = {
      ...request,
      openedAtMs: performance.now(),
      events,
      end() {
        if (!streams.delete(stream)) return;
        stopFollowing();
        const open = (openByKey.get(caller.id) ?? 1) - 1;
        if (open === 0) openByKey.delete(caller.id);
        else openByKey.set(caller.id, open);
        events.end();
      },
    };
    streams.add(stream);
    openByKey.set(caller.id, (openByKey.get(caller.id) ?? 0) + 1);
    let sent = '';
    const send = (job: FollowedJob) => {
      if (job.json === sent) return;
      sent = job.json;
      write(stream, renderEvent(job));
      if (job.isEnded) stream.end();
    };
    send(first);
    if (streams.has(stream)) stopFollowing = follower.follow(jobId, send);
    return { events, close: () => stream.end() };
  }

  function write(stream: Stream, text: string): void {
    stream.events.write(text);
    if (stream.events.writableLength <= limits.unreadBytes) return;
    logger.warn({ jobId: stream.jobId }, 'event stream ended: its client does not read');
    stream.end();
  }

  async function beat(): Promise<void> {
    await forEachStream((stream) => write(stream, ': still here\n\n'));
  }

  async function endOutdated(): Promise<void> {
    try {
      const presented = new Map([...streams].map(({ secretHash }) => [nameOf(secretHash), secretHash]));
      const scopes = presented.size > 0 ? await readUsableScopes(orm.em.fork(), [...presented.values()], clock()) : [];
      const usable = new Map(scopes.map(({ secretHash, scopes: granted }) => [nameOf(secretHash), granted]));
      await forEachStream((stream) => {
        const name = nameOf(stream.secretHash);
        const isTooOld = performance.now() - stream.openedAtMs >= limits.maximumAgeMs;
        // A stream that was opened during the look-up is checked next time.
        if (isTooOld || (presented.has(name) && !mayGoOn(stream, usable.get(name)))) stream.end();
      });
    } catch (err) {
      logger.warn({ err }, 'event streams not checked');
    }
  }

  function mayGoOn({ caller, endpoint }: Stream, scopes: readonly string[] | undefined): boolean {
    if (!scopes) return false;
    const readable = jobReaderOf({ ...caller, scopes: [...scopes] }, endpoints).endpoints;
    return readable === null || readable.includes(endpoint);
  }

  async function forEachStream(visit: (stream: Stream) => void): Promise<void> {
    let visited = 0;
    for (const stream of streams) {
      visit(stream);
      visited += 1;
      if (visited % STREAMS_AT_ONCE === 0) await yieldToOthers();
    }
  }
}

const nameOf = (secretHash: Uint8Array) => Buffer.from(secretHash).toString('base64');

/** The id lets a client that reconnects see that it missed nothing. */
function renderEvent({ status, json }: FollowedJob): string {
  return `event: job.${status}\nid: ${status}\ndata: ${json}\n\n`;
}
