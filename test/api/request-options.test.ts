import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { countRows, readJob } from '../support/jobs.ts';
import { png } from '../support/pictures.ts';
import { filePart, read, upload } from '../support/requests.ts';

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi({ waitCeilingMs: 50 });
  customer = await createCustomer(api.orm);
});

afterAll(() => api.close());

const submit = (headers: Record<string, string>, query = '') => read(api, { key: customer.keys.test, headers, query });

describe('Prefer: wait', () => {
  it.each([
    'wait=20',
    'respond-async, wait=20',
    'WAIT=20',
    'wait = "20"',
    'wait=20; unit=s',
    'wait=20, wait=0',
    'wait=99999999999999999999999',
    'wait',
    'respond-async, Wait ; unit=s',
  ])(
    'Prefer: %s holds the connection as wait=true does, and gets the ceiling, here of one second',
    async (preference) => {
      const answer = await submit({ Prefer: preference });
      expect([answer.status, answer.headers.get('Preference-Applied')]).toEqual([202, 'wait=1']);
    },
  );

  it('Prefer: wait yields to the query parameter', async () => {
    const answer = await submit({ Prefer: 'wait=20' }, '?wait=false');
    expect([answer.status, answer.headers.get('Preference-Applied')]).toEqual([202, null]);
  });

  it('Prefer: wait is ignored when it is malformed, as preferences are', async () => {
    expect((await submit({ Prefer: 'wait=soon' })).status).toBe(202);
  });
});

describe('Cancel-After', () => {
  it.each([
    ['30s', 30_000],
    ['45', 45_000],
    ['5m', 300_000],
    ['1m30s', 90_000],
    ['10m', 600_000],
  ])('Cancel-After: %s gives the job that long in the queue', async (given, expiryMs) => {
    const answer = await submit({ 'Cancel-After': given });
    expect((await readJob(api.orm, String(answer.json.id))).expiryMs).toBe(expiryMs);
  });

  it.each(['', '4s', '0', 'soon', '1s30m', '-5m'])('Cancel-After: "%s" is refused', async (given) => {
    expect((await submit({ 'Cancel-After': given })).error).toMatchObject({
      code: 'parameter_invalid',
      param: 'Cancel-After',
    });
  });
});

describe('Cancel-After beyond the time of the endpoint', () => {
  it.each(['10m1s', '601', '2h'])(
    'Cancel-After: %s is refused with the longest time that the endpoint allows',
    async (given) => {
      for (const query of ['', '?dry_run=true']) {
        const { error } = await submit({ 'Cancel-After': given }, query);
        expect(error).toMatchObject({ code: 'parameter_invalid', param: 'Cancel-After' });
        expect(error.message).toContain('600s');
      }
    },
  );
});

describe('dry_run', () => {
  it('a dry run returns the cost of the request and creates nothing', async () => {
    const other = await createCustomer(api.orm, { test: 30 });
    const answer = await read(api, { key: other.keys.test, query: '?dry_run=true' });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      object: 'dry_run',
      endpoint: 'dashboard.read',
      credits: { reserved: 20, available: 30 },
      sufficient: true,
    });
    expect(await countRows(api.orm, 'jobs', other.organizationId)).toBe(0);
  });

  it('a dry run reports insufficient credits for the scenario insufficient_credits', async () => {
    const answer = await read(api, {
      key: customer.keys.test,
      query: '?dry_run=true',
      scenario: 'insufficient_credits',
    });
    expect(answer.json).toMatchObject({ object: 'dry_run', sufficient: false });
  });

  it('a dry run reports insufficient credits', async () => {
    const poor = await createCustomer(api.orm, { test: 10 });
    const answer = await read(api, { key: poor.keys.test, query: '?dry_run=true' });
    expect(answer.json).toMatchObject({ credits: { available: 10 }, sufficient: false });
  });

  it('a dry run refuses what the real request would be refused for', async () => {
    const answer = await read(api, { key: customer.keys.test, query: '?dry_run=true', fields: { colour: 'red' } });
    expect(answer.error).toMatchObject({ code: 'parameter_unknown', param: 'colour' });
  });

  it('a dry run refuses a truncated image, in both encodings', async () => {
    const truncated = png.subarray(0, -20);
    const direct = { key: customer.keys.test, image: truncated };
    const answer = await read(api, { ...direct, query: '?dry_run=true' });
    expect(answer.status).toBe(400);
    expect(answer.error).toMatchObject({
      code: 'input_unreadable',
      param: 'image',
      message: expect.stringContaining('truncated'),
    });
    const input_ref = await upload(api, customer.keys.test, truncated);
    const uploaded = { key: customer.keys.test, json: { input_ref }, query: '?dry_run=true' };
    expect((await read(api, uploaded)).error).toMatchObject({ code: 'input_unreadable', param: 'input_ref' });
    expect((await read(api, { ...direct, image: png, query: '?dry_run=true' })).status).toBe(200);
  });

  it('a dry run says which of several images is truncated', async () => {
    const body = new FormData();
    for (const image of [png, png.subarray(0, -20), png]) body.append('images', filePart(image), 'picture.png');
    const answer = await api.call('/v1/vehicle/identify?dry_run=true', {
      method: 'POST',
      key: customer.keys.test,
      body,
    });
    expect(answer.error).toMatchObject({
      code: 'input_unreadable',
      message: expect.stringMatching(/^File 2 in "images"/),
    });
  });

  it('a dry run refuses a truncated video', async () => {
    const video = readFileSync(
      new URL('../../src/endpoints/render.video/fixtures/walk-around-16-9.mp4', import.meta.url),
    );
    const input_ref = await upload(api, customer.keys.test, video.subarray(0, -1_000));
    const { error } = await api.call('/v1/video/onboard?dry_run=true', {
      method: 'POST',
      key: customer.keys.test,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ input_ref }),
    });
    expect(error).toMatchObject({ code: 'input_unreadable', param: 'input_ref' });
  });

  it('dry_run accepts only true or false', async () => {
    expect((await submit({}, '?dry_run=perhaps')).error).toMatchObject({ code: 'parameter_invalid', param: 'dry_run' });
  });

  it('a dry run leaves no file behind', async () => {
    const before = await api.storedFiles();
    await submit({}, '?dry_run=true');
    expect(await api.storedFiles()).toEqual(before);
  });
});

it('a misspelt query parameter is refused before it costs anything', async () => {
  const answer = await submit({}, '?dryrun=true');
  expect(answer.error).toMatchObject({ code: 'parameter_unknown', param: 'dryrun' });
});

it('JSON in a multipart part is not coerced', async () => {
  const body = new FormData();
  body.append('vehicle', JSON.stringify({ make: 'Talvera', model: 'Lumo', year: '2021' }));
  const answer = await api.call('/v1/pricing/vehicle', { method: 'POST', key: customer.keys.test, body });
  expect(answer.error).toMatchObject({ code: 'parameter_invalid', param: 'vehicle.year' });
});
