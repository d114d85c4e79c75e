/** A cluster that only records dispatches; the test calls back on its behalf. Depends on HTTP only. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedDispatch {
  id: string;
  job_id: string;
  attempt: number;
  endpoint: string;
  model_version: string;
  parameters: Record<string, unknown>;
  inputs: { field: string; media_type: string; bytes: number; sha256: string; url: string }[];
  callbacks: Record<'started' | 'progress' | 'artefacts' | 'completed' | 'failed', string>;
  token: string;
  heartbeat_seconds: number;
  ends_at: number;
}

export interface RecordingCluster {
  /** The URL for dispatches. */
  url: string;
  /** The next dispatch of the job, in order of arrival. */
  next(jobId: string): Promise<ReceivedDispatch>;
  /** Ids of the dispatches that were withdrawn. */
  withdrawn: readonly string[];
  /** Headers of every request. */
  headers: readonly Record<string, unknown>[];
  /** The status for dispatches from now on; initially 202. */
  status: number;
  close(): Promise<void>;
}

export async function startRecordingCluster(): Promise<RecordingCluster> {
  const received: ReceivedDispatch[] = [];
  const awaited: { jobId: string; resolve: (dispatch: ReceivedDispatch) => void }[] = [];
  const withdrawn: string[] = [];
  const headers: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      headers.push(request.headers);
      if (request.method === 'DELETE') {
        withdrawn.push(String(request.url).split('/').at(-1) ?? '');
        response.writeHead(204).end();
        return;
      }
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      response.writeHead(cluster.status, { location: `${cluster.url}/elsewhere` }).end();
      received.push(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      hand();
    })();
  });
  const hand = () => {
    for (const waiting of awaited.slice()) {
      const index = received.findIndex((dispatch) => dispatch.job_id === waiting.jobId);
      const [dispatch] = index < 0 ? [] : received.splice(index, 1);
      if (!dispatch) continue;
      awaited.splice(awaited.indexOf(waiting), 1);
      waiting.resolve(dispatch);
    }
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cluster: RecordingCluster = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/dispatches`,
    next: (jobId) =>
      new Promise((resolve) => {
        awaited.push({ jobId, resolve });
        hand();
      }),
    withdrawn,
    headers,
    status: 202,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return cluster;
}

/** Calls back like the cluster. */
export function callBack(
  dispatch: ReceivedDispatch,
  name: keyof ReceivedDispatch['callbacks'],
  body: unknown = {},
  { token = dispatch.token }: { token?: string | null } = {},
): Promise<Response> {
  return fetch(dispatch.callbacks[name], {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token !== null && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
}
