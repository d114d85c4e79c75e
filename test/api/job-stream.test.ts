/** `GET /v1/jobs/{id}/events`: server-sent events of a job. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSettlementActivities } from '../../src/activities/settlement-activities.ts';
import type { JobResource } from '../../src/jobs/job-resource.ts';
import { newId } from '../../src/platform/ids.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { admit, finishInference, SUCCESS } from '../support/jobs.ts';
import { expectRefusal } from '../support/requests.ts';

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

interface StreamedEvent {
  event: string;
  id: string;
  job: JobResource;
}

/** Reads the events of a stream one by one, without comments. Null at the end. */
async function openStream(signal?: AbortSignal) {
  const response = await fetch(`${api.url}/v1/jobs/${jobId}/events`, {
    headers: { Authorization: `Bearer ${customer.keys.test}` },
    ...(signal && { signal }),
  });
  const chunks = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const next = async (): Promise<StreamedEvent | null> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end === -1) {
        const { done, value } = await chunks.read();
        if (done) return null;
        text += value;
        continue;
      }
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      if (block.startsWith(':')) continue;
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s)));
      return { event: fields.event, id: fields.id, job: JSON.parse(fields.data) };
    }
  };
  return { response, next };
}

const settle = () => createSettlementActivities({ orm: api.orm }).settleJob({ jobId, failure: null });

describe('the stream of a job', () => {
  it('the stream of a job sends the current state at once, then every change, and ends with the job', async () => {
    const { response, next } = await openStream();
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toMatch(/^text\/event-stream/);
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(await next()).toMatchObject({ event: 'job.queued', id: 'queued', job: { id: jobId, status: 'queued' } });
    await finishInference(api.orm, jobId);
    expect(await next()).toMatchObject({ event: 'job.processing', job: { status: 'processing' } });
    await settle();
    const last = await next();
    expect(last).toMatchObject({ event: 'job.succeeded', job: { status: 'succeeded', result: SUCCESS.result } });
    expect(await next()).toBeNull();
    const read = await api.call(`/v1/jobs/${jobId}`, { key: customer.keys.test });
    expect(last?.job).toEqual(read.job);
  });

  it('the stream of a job that has already ended sends one event and ends', async () => {
    await finishInference(api.orm, jobId);
    await settle();
    const { next } = await openStream();
    expect(await next()).toMatchObject({ event: 'job.succeeded' });
    expect(await next()).toBeNull();
  });

  it('the stream of a job reaches several listeners', async () => {
    const streams = await Promise.all(Array.from({ length: 5 }, () => openStream()));
    for (const { next } of streams) expect(await next()).toMatchObject({ event: 'job.queued' });
    await finishInference(api.orm, jobId);
    await settle();
    for (const { next } of streams) {
      let event = await next();
      if (event?.event === 'job.processing') event = await next();
      expect(event).toMatchObject({ event: 'job.succeeded' });
      expect(await next()).toBeNull();
    }
  });
});

describe('a client that reconnects after the end', () => {
  const reconnect = (lastEventId: string) =>
    api.call(`/v1/jobs/${jobId}/events`, { key: customer.keys.test, headers: { 'Last-Event-ID': lastEventId } });
  beforeEach(async () => {
    await finishInference(api.orm, jobId);
    await settle();
  });

  it('a client that reconnects after it saw the last event gets 204, which stops browsers from reconnecting', async () => {
    const answer = await reconnect('succeeded');
    expect([answer.status, answer.text]).toEqual([204, '']);
  });

  it.each(['processing', 'queued', 'failed', ''])(
    'a client that reconnects after the end and saw "%s" last receives the final event',
    async (seen) => {
      const answer = await reconnect(seen);
      expect(answer.status).toBe(200);
      expect(answer.text).toMatch(/^event: job\.succeeded\n/);
    },
  );
});

it('a client that disconnects leaves no error in the log', async () => {
  const leaving = new AbortController();
  const { next } = await openStream(leaving.signal);
  await next();
  leaving.abort();
  await expect(next()).rejects.toMatchObject({ name: 'AbortError' });
  expect(api.log.lines.filter((line) => line.includes('job stream ended early'))).toEqual([]);
});

it("the stream of another organisation's job is refused as not found", async () => {
  const stranger = await createCustomer(api.orm);
  for (const id of [jobId, newId('job')]) {
    await expectRefusal(api, () => api.call(`/v1/jobs/${id}/events`, { key: stranger.keys.test }), {
      code: 'resource_not_found',
      param: 'id',
    });
  }
});
