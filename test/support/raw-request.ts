/** Requests that no well-behaved client sends: partial bodies, connections that end half-way. */
import { once } from 'node:events';
import { type Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Answer, type TestApi } from './api.ts';

export interface RawRequest {
  path: string;
  /** POST by default. */
  method?: string;
  key?: string;
  headers: Record<string, string>;
  /** Without it, the request has its own connection. */
  agent?: Agent | undefined;
}

/** Opens a request and sends its headers. The caller writes the body. */
export function openRequest(api: TestApi, { path, method = 'POST', key, headers, agent }: RawRequest): ClientRequest {
  const opened = request(api.url + path, {
    method,
    headers: { ...(key !== undefined && { Authorization: `Bearer ${key}` }), ...headers },
    agent: agent ?? false,
  });
  opened.flushHeaders();
  return opened;
}

export async function answerTo(opened: ClientRequest): Promise<Answer> {
  const [response] = (await once(opened, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const headers = new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
  return new Answer(response.statusCode ?? 0, headers, Buffer.concat(chunks).toString('utf8'));
}

export const BOUNDARY = 'boundary-of-the-test';
export const MULTIPART = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };

export function partHead(name: string, filename?: string): string {
  const file = filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: image/jpeg`;
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`;
}

export const MULTIPART_END = `\r\n--${BOUNDARY}--\r\n`;
