/** What the console reads besides the resources: the member, the endpoints' schemas, a job's files and events, a delivery's body. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { endpoints } from '../../../src/endpoints/list.ts';
import { Event, Job } from '../../../src/jobs/entities.ts';
import { renderEvent } from '../../../src/jobs/job-event.ts';
import { renderJob } from '../../../src/jobs/job-resource.ts';
import { PERMISSIONS } from '../../../src/organizations/roles.ts';
import { WebhookDelivery } from '../../../src/webhooks/entities.ts';
import { PUBLIC_BASE_URL, startTestApi, type TestApi } from '../../support/api.ts';
import { type Customer, createCustomer, createWebhookEndpoint } from '../../support/customers.ts';
import { managing } from '../../support/management.ts';
import { jpeg } from '../../support/pictures.ts';
import { read } from '../../support/requests.ts';
import { createDelivery } from '../../webhooks/delivery-fixture.ts';

let now = new Date();
let api: TestApi;
let customer: Customer;
let manage: ReturnType<typeof managing>;

beforeAll(async () => {
  api = await startTestApi({ clock: () => now });
  customer = await createCustomer(api.orm);
  manage = managing(api, customer.organizationId);
});
afterAll(() => api.close());

describe('the member', () => {
  it('the member is the user that the token names, with what the role may do', async () => {
    const { json } = await manage('/member', { role: 'billing_manager', userId: 'usr_11111111' });
    expect(json).toEqual({
      user_id: 'usr_11111111',
      object: 'member',
      organization_id: customer.organizationId,
      role: 'billing_manager',
      permissions: ['member:read', 'usage:read', 'credits:read', 'billing:read', 'sdk_licenses:read'],
    });
    expect((await manage('/member', { role: 'owner' })).json.permissions).toEqual(Object.keys(PERMISSIONS));
  });
});

describe('the endpoints', () => {
  it('the list of endpoints is that of the mode, with the schemas of their parameters and what files they take', async () => {
    const list = async (query: string) => (await manage(`/endpoints${query}`)).json.data as Record<string, unknown>[];
    const [test, live] = [await list(''), await list('?livemode=true')];
    expect(test.map(({ endpoint }) => endpoint)).toEqual(endpoints.map(({ slug }) => slug));
    expect(test.every(({ available }) => available)).toBe(true);
    // No worker has announced a model.
    expect(live.some(({ available }) => available)).toBe(false);
    expect(test.find(({ endpoint }) => endpoint === 'dashboard.read')).toMatchObject({
      files: { field: 'image', minimum: 1, maximum: 1, media_types: ['image/jpeg', 'image/png', 'image/webp'] },
      parameters: { type: 'object', properties: { unit_hint: { enum: ['km', 'mi'] } } },
      scenarios: { cluster_off: expect.any(String) },
    });
  });
});

describe('the files of a job', () => {
  it('the files of a job are listed with links that show them without a token, until the links expire', async () => {
    const { job } = await read(api, { key: customer.keys.test });
    const { json } = await manage(`/jobs/${job.id}/files`);
    const [file] = json.data as { url: string; expires_at: number }[];
    expect(json.data).toEqual([
      {
        object: 'job_file',
        field: 'image',
        media_type: 'image/jpeg',
        bytes: jpeg.byteLength,
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        upload_id: null,
        url: expect.stringContaining(`${PUBLIC_BASE_URL}/job-files/${job.id}/0?`),
        expires_at: Math.floor(now.getTime() / 1_000) + 15 * 60,
      },
    ]);
    const path = file?.url.slice(PUBLIC_BASE_URL.length) ?? '';
    const shown = await fetch(api.url + path);
    expect([shown.status, shown.headers.get('Content-Type')]).toEqual([200, 'image/jpeg']);
    expect(new Uint8Array(await shown.arrayBuffer())).toEqual(new Uint8Array(jpeg));
    const stream = vi.spyOn(api.store, 'stream');
    const asked = await fetch(api.url + path, { method: 'HEAD' });
    expect([asked.status, asked.headers.get('Content-Length')]).toEqual([200, String(jpeg.byteLength)]);
    expect(stream).not.toHaveBeenCalled();
    stream.mockRestore();
    for (const changed of [
      path.replace('/0?', '/1?'),
      path.replace(/signature=\w/, 'signature=x'),
      path.split('?')[0],
    ]) {
      expect((await fetch(api.url + changed)).status).toBe(404);
    }
    const before = now;
    now = new Date(now.getTime() + 15 * 60_000);
    expect((await fetch(api.url + path)).status).toBe(404);
    now = before;
  });

  it('the files of a job are reported as gone after they were removed', async () => {
    const { job } = await read(api, { key: customer.keys.test });
    const [file] = (await manage(`/jobs/${job.id}/files`)).json.data as { url: string }[];
    const { inputs } = await api.orm.em.fork().findOneOrFail(Job, { id: job.id });
    for (const { storageKey } of inputs) await api.store.remove(storageKey);
    const gone = await fetch(api.url + (file?.url.slice(PUBLIC_BASE_URL.length) ?? ''));
    expect([gone.status, await gone.text()]).toEqual([404, expect.stringContaining('no longer stored')]);
  });
});

describe('the events of a job', () => {
  it('the events of a job are listed with their deliveries, and each delivery shows what it sends', async () => {
    const { organizationId, keyIds } = customer;
    const owner = { organizationId, apiKeyId: keyIds.test, livemode: false, isStaging: false };
    const endpoint = await createWebhookEndpoint(api.orm, organizationId);
    const { deliveryId } = await createDelivery(api.orm, owner, endpoint.id);
    const em = api.orm.em.fork();
    const delivery = await em.findOneOrFail(WebhookDelivery, { id: deliveryId });
    const event = await em.findOneOrFail(Event, { id: delivery.event.id });
    const job = renderJob(await em.findOneOrFail(Job, { id: event.jobId ?? '' }));
    const { id, createdAt } = event;
    const type = 'job.succeeded';
    event.payload = renderEvent({ id, type, createdAt, job, requestId: 'req_11111111', idempotencyKey: null });
    await em.flush();
    const listed = await manage(`/jobs/${event.jobId}/events`);
    const body = await manage(`/webhook-endpoints/${endpoint.id}/deliveries/${deliveryId}/body`);
    expect(body.json).toEqual({
      object: 'webhook_delivery_body',
      webhook_delivery_id: deliveryId,
      event_id: event.id,
      body: event.payload,
    });
    expect(listed.json.data).toEqual([
      {
        object: 'job_event',
        event: JSON.parse(event.payload),
        deliveries: [expect.objectContaining({ id: deliveryId, status: 'pending', attempts: [] })],
      },
    ]);
  });

  it("the list of a job's events is empty while the job is open", async () => {
    const { job } = await read(api, { key: customer.keys.test });
    expect((await manage(`/jobs/${job.id}/events`)).json.data).toEqual([]);
  });
});
