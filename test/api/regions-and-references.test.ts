/** Requests whose boxes or named jobs do not fit their picture: refused before anything is held. */
import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { admit, finishJob } from '../support/jobs.ts';
import { jpeg } from '../support/pictures.ts';
import { expectRefusal, upload } from '../support/requests.ts';

let api: TestApi;
let customer: Customer;
/** 200 × 100 pixels as displayed; stored on its side. */
let picture: Buffer;
let pictureRef: string;
let otherRef: string;

beforeAll(async () => {
  api = await startTestApi();
  picture = await sharp({ create: { width: 100, height: 200, channels: 3, background: '#777' } })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();
});
afterAll(() => api.close());
beforeEach(async () => {
  customer = await createCustomer(api.orm);
  pictureRef = await upload(api, customer.keys.test, picture);
  otherRef = await upload(api, customer.keys.test, jpeg);
});

const post = (path: string, body: object) =>
  api.call(path, {
    method: 'POST',
    key: customer.keys.test,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

const grade = (body: object, input_ref = pictureRef) => post('/v1/damage/severity', { input_ref, ...body });

const box = (x: number, y: number) => ({ x, y, width: 20, height: 20 });

describe('a region of the picture', () => {
  const polygon = [
    { x: 10, y: 10 },
    { x: 300, y: 10 },
    { x: 10, y: 30 },
  ];

  it.each([
    ['bbox', { bbox: box(190, 10) }],
    ['bbox', { bbox: box(10, 150) }],
    ['polygon', { bbox: box(10, 10), polygon }],
  ])('a region whose %s lies outside is refused with the size of the picture', async (field, outside) => {
    const damages = [{ bbox: box(10, 10) }, outside];
    const refusal = { code: 'parameter_invalid', param: `damages.1.${field}` } as const;
    const refused = await expectRefusal(api, () => grade({ damages }), refusal);
    expect(refused.error.message).toContain('200 × 100 pixels as displayed');
  });

  it('a region may reach the edge of the picture, by a pixel of rounding more', async () => {
    expect((await grade({ damages: [{ bbox: box(180.6, 80.6) }] })).status).toBe(202);
  });
});

/** A settled job of the customer on the picture. */
async function jobOn(endpoint: string, content: Buffer): Promise<string> {
  const sha256 = createHash('sha256').update(content).digest('hex');
  const input = {
    field: 'image',
    storageKey: 'jobs/a.0',
    mediaType: 'image/jpeg',
    bytes: content.length,
    uploadId: null,
  };
  const jobId = await admit(api.orm, customer, { endpoint, inputs: [{ ...input, sha256 }] });
  await finishJob(api.orm, jobId);
  return jobId;
}

describe.each([
  ['/v1/damage/severity', 'damage.detect'],
  ['/v1/render/hotspots', 'damage.severity'],
])('the job that a request to %s names', (path, endpoint) => {
  it(`${path} refuses a job of ${endpoint} on another picture`, async () => {
    const damage_job_id = await jobOn(endpoint, picture);
    const refusal = { code: 'parameter_invalid', param: 'damage_job_id' } as const;
    const refused = await expectRefusal(api, () => post(path, { input_ref: otherRef, damage_job_id }), refusal);
    expect(refused.error.message).toContain('another picture');
    expect((await post(path, { input_ref: pictureRef, damage_job_id })).status).toBe(202);
  });
});

it('a job on one picture may name an inspection of other pictures, because an inspection is of a vehicle', async () => {
  const damage_job_id = await jobOn('inspections', picture);
  expect((await post('/v1/render/hotspots', { input_ref: otherRef, damage_job_id })).status).toBe(202);
});
