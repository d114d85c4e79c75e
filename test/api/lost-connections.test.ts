/** Connections that break while a request is answered. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { admit, finishJob } from '../support/jobs.ts';

let api: TestApi;
let customer: Customer;
let jobId: string;

beforeAll(async () => {
  api = await startTestApi();
  customer = await createCustomer(api.orm);
});
afterAll(() => api.close());
beforeEach(async () => {
  jobId = await admit(api.orm, customer);
});

const requestOf = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${customer.keys.test}`, ...headers, '\r\n'].join('\r\n');

const streamRequest = (...headers: string[]) => requestOf(`GET /v1/jobs/${jobId}/events`, ...headers);

const open = () => connect(Number(new URL(api.url).port), '127.0.0.1');

/** The status of every response until the API closes the connection, and all that was received. */
async function exchange(bytes: string): Promise<{ statuses: number[]; text: string }> {
  const socket = open();
  socket.write(bytes);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return { statuses: [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status)), text };
}

/** Opens the stream of the job, and waits for its headers. */
async function openStream(...headers: string[]): Promise<Socket> {
  const socket = open();
  socket.on('error', () => {});
  socket.write(streamRequest(...headers));
  await once(socket, 'data');
  return socket.resume();
}

async function endJob(): Promise<void> {
  await finishJob(api.orm, jobId);
}

it.each([
  ['a request after the last', ['Connection: close'], []],
  ['a malformed request', [], ['Bad Header: x']],
])('the log holds no bytes of %s that comes during a response', async (_what, first, second) => {
  const socket = await openStream(...first);
  const closed = once(socket, 'close');
  socket.write(streamRequest(...second));
  await endJob();
  await closed;
  const log = api.log.lines.join('');
  expect(log).not.toContain(customer.keys.test);
  expect(log).not.toContain('rawPacket');
});

it('a client that hangs up causes no warning', async () => {
  const socket = await openStream();
  socket.destroy();
  const line = await api.log.waitFor(({ msg, err }) => {
    const { code = '' } = (err ?? {}) as { code?: string };
    return msg === 'connection error' && ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code);
  });
  expect(line.level).toBe(20);
  expect(line.requestId).toMatch(/^req_/);
});

describe('requests that are followed by bytes which are not HTTP', () => {
  it.each([
    ['x', ['Connection: close'], [200]],
    ['GARBAGE\0', [], [200, 400]],
  ])('a request is carried out before the bytes %j behind it are refused', async (bytes, headers, expected) => {
    const cancelled = await exchange(requestOf(`POST /v1/jobs/${jobId}/cancel`, ...headers) + bytes);
    expect(cancelled.statuses).toEqual(expected);
    expect(cancelled.text).toContain(jobId);
    const page = await exchange(requestOf('GET /docs', ...headers) + bytes);
    expect(page.statuses).toEqual(expected);
    // Near its end.
    expect(page.text).toContain('## Look up');
  });

  it('a request followed by bytes which are not HTTP gets its response after those before it', async () => {
    const { statuses } = await exchange(
      `${requestOf('GET /health/ready')}${requestOf('GET /unknown')}${requestOf(`GET /v1/jobs/${jobId}`)}GARBAGE\0`,
    );
    expect(statuses).toEqual([200, 404, 200, 400]);
  });

  it('a request followed by bytes which are not HTTP gets its response though more of them arrive', async () => {
    const socket = await openStream();
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.write('GARBAGE\0');
    socket.write(streamRequest('Bad Header: x'));
    const ended = once(socket, 'close');
    await endJob();
    await ended;
    expect(text).toContain('event: job.succeeded');
  });
});
