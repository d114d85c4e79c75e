/** A KServe v2 server with one model that adds one to every number, and misbehaves on request. Independent of `src`. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

interface Options {
  /** Like Triton: tensors as bytes after the JSON. */
  binary?: boolean;
  /** PEM. */
  tls?: { key: string; cert: string };
}

type Answerer = (response: ServerResponse, respond: () => void) => void;

export interface KserveTestServer {
  url: string;
  /** Every request. */
  requests: { method: string; path: string; headers: IncomingMessage['headers'] }[];
  /** Requests that the client aborted. */
  abandoned: number;
  /** Replaces the response to an inference. */
  onInfer: Answerer | null;
  /** The metadata of its model. */
  metadata: Record<string, unknown>;
  isReady: boolean;
  close(): Promise<void>;
}

const TENSOR = { datatype: 'FP32', shape: [-1] };

export async function startKserveServer({ binary = false, tls }: Options = {}): Promise<KserveTestServer> {
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    void answer(request, response);
  };
  const http = tls ? createTlsServer(tls, handle) : createServer(handle);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    server.requests.push({ method, path, headers });
    response.once('close', () => {
      if (!response.writableFinished) server.abandoned += 1;
    });
    const json = (status: number, body?: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body));
    };
    if (!/^\/v2(?:\/health\/ready|\/models\/tiny(?:\/versions\/7)?(?:\/ready|\/infer)?)?$/.test(path)) {
      return json(404, { error: 'there is no such thing' });
    }
    if (path === '/v2') return json(200, { name: 'test', extensions: binary ? ['binary_tensor_data'] : [] });
    if (path.endsWith('/ready')) return json(server.isReady ? 200 : 503);
    if (!path.endsWith('/infer')) return json(200, server.metadata);
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const respond = () => (binary ? addOneInBytes : addOneInJson)(Buffer.concat(chunks), headers, response);
    if (server.onInfer) server.onInfer(response, respond);
    else respond();
  }

  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server: KserveTestServer = {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(http.address() as AddressInfo).port}`,
    requests: [],
    abandoned: 0,
    onInfer: null,
    metadata: { inputs: [{ name: 'x', ...TENSOR }], outputs: [{ name: 'y', ...TENSOR }] },
    isReady: true,
    async close() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  return server;
}

function addOneInJson(body: Buffer, _headers: IncomingMessage['headers'], response: ServerResponse): void {
  const { inputs } = JSON.parse(body.toString('utf8')) as { inputs: { shape: number[]; data: number[] }[] };
  const [input] = inputs;
  const data = (input?.data ?? []).map((value) => value + 1);
  const outputs = [{ name: 'y', shape: input?.shape, datatype: 'FP32', data }];
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ outputs }));
}

function addOneInBytes(body: Buffer, headers: IncomingMessage['headers'], response: ServerResponse): void {
  const length = Number(headers['inference-header-content-length']);
  const { inputs } = JSON.parse(body.subarray(0, length).toString('utf8')) as { inputs: { shape: number[] }[] };
  const bytes = Buffer.from(body.subarray(length));
  for (let offset = 0; offset < bytes.length; offset += 4) bytes.writeFloatLE(bytes.readFloatLE(offset) + 1, offset);
  const parameters = { binary_data_size: bytes.length };
  const json = JSON.stringify({ outputs: [{ name: 'y', shape: inputs[0]?.shape, datatype: 'FP32', parameters }] });
  // An odd length, which breaks clients that read the numbers in place.
  const head = json.length % 4 === 0 ? `${json} ` : json;
  response
    .writeHead(200, { 'inference-header-content-length': String(head.length) })
    .end(Buffer.concat([Buffer.from(head), bytes]));
}
