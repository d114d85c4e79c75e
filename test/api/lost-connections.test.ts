/** Connections that break while a response is sent. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { admit, finishInference } from '../support/jobs.ts';

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

/** A request for the stream of the job. */
const request = (...headers: string[]) =>
  [
    `GET /v1/jobs/${jobId}/events HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${customer.keys.test}`,
    ...headers,
    '\r\n',
  ].join('\r\n');

/** Opens the stream of the job, and waits for its headers. */
async function openStream(...headers: string[]): Promise<Socket> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(request(...headers));
  await once(socket, 'data');
  return socket.resume();
}

async function endJob(): Promise<void> {
  await finishInference(api.orm, jobId);
  await createSettlementActivities({ orm: api.orm }).settleJob({ jobId, failure: null });
}

it.each([
  ['a request after the last', ['Connection: close'], []],
  ['a malformed request', [], ['Bad Header: x']],
])('the log holds no bytes of %s that comes during a response', async (_what, first, second) => {
  const socket = await openStream(...first);
  const closed = once(socket, 'close');
  socket.write(request(...second));
  await endJob();
  await closed;
  const log = api.log.lines.join('');
  expect(log).not.toContain(customer.keys.test);
  expect(log).not.toContain('rawPacket');
});

it('a client that hangs up is no warning', async () => {
  const socket = await openStream();
  socket.destroy();
  const line = await api.log.waitFor(({ msg, err }) => {
    const { code = '' } = (err ?? {}) as { code?: string };
    return msg === 'connection error' && ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code);
  });
  expect(line.level).toBe(20);
  expect(line.requestId).toMatch(/^req_/);
});
