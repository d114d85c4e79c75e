/** The fields and options beside the picture, in both encodings. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Job } from '../../src/db/entities.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { DASHBOARD_READ, expectRefusal, form, type ReadRequest, read, upload } from '../support/requests.ts';

let api: TestApi;
let key: string;
let uploadId: string;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  key = (await createCustomer(api.orm)).keys.test;
  uploadId = await upload(api, key);
});

type Fields = Record<string, string | boolean | number | null | string[]>;

const ENCODINGS = {
  multipart: (fields: Fields): ReadRequest => ({ fields: fields as Record<string, string> }),
  JSON: (fields: Fields): ReadRequest => ({ json: { input_ref: uploadId, ...fields } }),
};

async function parametersOf(request: ReadRequest) {
  const answer = await read(api, { key, ...request });
  expect(answer.status).toBe(202);
  return (await api.orm.em.fork().findOneOrFail(Job, { id: answer.job.id })).parameters;
}

describe.each(Object.entries(ENCODINGS))('in %s', (encoding, request) => {
  const isJson = encoding === 'JSON';
  const flag = (value: boolean) => (isJson ? value : String(value));

  it('what is left out has its default', async () => {
    expect(await parametersOf(request({}))).toEqual({ read_warning_lights: true });
  });

  it.each(['km', 'mi'])('unit_hint may be %s', async (unit_hint) => {
    expect(await parametersOf(request({ unit_hint }))).toEqual({ read_warning_lights: true, unit_hint });
  });

  it.each([true, false])('read_warning_lights may be %s', async (value) => {
    expect(await parametersOf(request({ read_warning_lights: flag(value) }))).toEqual({ read_warning_lights: value });
  });

  it.each(['miles', 'KM', ''])('unit_hint "%s" is refused', (unit_hint) =>
    expectRefusal(api, () => read(api, { key, ...request({ unit_hint }) }), {
      code: 'parameter_invalid',
      param: 'unit_hint',
    }),
  );

  it.each(isJson ? ['true', 1, null, ['true']] : ['yes', '1', '', 'TRUE'])(
    'read_warning_lights %j is refused',
    (value) =>
      expectRefusal(api, () => read(api, { key, ...request({ read_warning_lights: value }) }), {
        code: 'parameter_invalid',
        param: 'read_warning_lights',
      }),
  );

  it.each(['unit', 'Unit_hint', 'livemode', '__proto__', 'constructor'])(
    'the unknown field "%s" is refused',
    (name) => {
      const fields: Fields = Object.fromEntries([[name, 'km']]);
      return expectRefusal(api, () => read(api, { key, ...request(fields) }), {
        code: 'parameter_unknown',
        param: name,
      });
    },
  );
});

it('a field given twice in multipart is refused', () => {
  const body = form({ fields: { unit_hint: 'km' } });
  body.append('unit_hint', 'mi');
  return expectRefusal(api, () => api.call(DASHBOARD_READ, { method: 'POST', key, body }), {
    code: 'parameter_invalid',
    param: 'unit_hint',
  });
});

it('a field of more than 64 KB is refused', () =>
  expectRefusal(api, () => read(api, { key, fields: { unit_hint: 'k'.repeat(70_000) } }), {
    code: 'parameter_invalid',
    param: 'unit_hint',
  }));

it('a hundred fields are refused', () => {
  const fields = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`field_${index}`, '1']));
  return expectRefusal(api, () => read(api, { key, fields }), { code: 'malformed_request' });
});

describe('text that PostgreSQL cannot hold is refused', () => {
  const JSON_HEADERS = { 'Content-Type': 'application/json' };
  const post = (path: string, body: unknown) =>
    api.call(path, { method: 'POST', key, headers: JSON_HEADERS, body: JSON.stringify(body) });

  it.each(['a\0b', '\ud800', 'x\udc00y'])('%j', async (text) => {
    await expectRefusal(api, () => post('/v1/uploads', { filename: text, bytes: 1, mime_type: 'image/jpeg' }), {
      code: 'parameter_invalid',
      param: 'filename',
    });
    const vehicle = { make: text, model: 'Golf', year: 2020 };
    await expectRefusal(api, () => post('/v1/pricing/vehicle', { vehicle }), {
      code: 'parameter_invalid',
      param: 'vehicle',
    });
  });

  it('and every other text is kept as it is', async () => {
    const make = 'Škoda 🚗 \u0001 \\u0000 "quoted"';
    const answer = await post('/v1/pricing/vehicle', { vehicle: { make, model: 'Golf', year: 2020 } });
    expect(answer.status).toBe(202);
    const job = await api.orm.em.fork().findOneOrFail(Job, { id: answer.job.id });
    expect(job.parameters).toMatchObject({ vehicle: { make } });
  });
});

describe('X-Service-Test-Scenario', () => {
  it.each(['unknown', 'MODEL_ERROR', 'toString', 'slow, model_error'])('"%s" is refused', (scenario) =>
    expectRefusal(api, () => read(api, { key, scenario }), {
      code: 'test_scenario_not_supported',
      param: 'X-Service-Test-Scenario',
    }),
  );

  it('insufficient_credits is refused with 402, and no job is created', async () => {
    const send = () => read(api, { key, scenario: 'insufficient_credits', idempotencyKey: 'no-credits-left' });
    const answer = await expectRefusal(api, send, { code: 'insufficient_credits' });
    expect(answer.status).toBe(402);
  });

  it('is shown on the job it steers, and on no other', async () => {
    expect((await read(api, { key, scenario: 'empty_result' })).job.test_scenario).toBe('empty_result');
    expect((await read(api, { key })).json).not.toHaveProperty('test_scenario');
  });
});

describe('wait', () => {
  it.each(['maybe', '1', 'TRUE', '', 'true%20'])('"%s" is refused', (value) =>
    expectRefusal(api, () => read(api, { key, query: `?wait=${value}` }), { code: 'parameter_invalid', param: 'wait' }),
  );

  it('given twice is refused', () =>
    expectRefusal(api, () => read(api, { key, query: '?wait=true&wait=true' }), {
      code: 'parameter_invalid',
      param: 'wait',
    }));

  it('false answers at once', async () => {
    expect((await read(api, { key, query: '?wait=false' })).status).toBe(202);
  });
});

describe('Idempotency-Key', () => {
  it.each([0, 7, 256])('of %d characters is refused', (length) =>
    expectRefusal(api, () => read(api, { key, idempotencyKey: 'k'.repeat(length) }), {
      code: 'idempotency_key_invalid',
      param: 'Idempotency-Key',
    }),
  );

  it.each([8, 255])('of %d characters is taken', async (length) => {
    expect((await read(api, { key, idempotencyKey: 'k'.repeat(length) })).status).toBe(202);
  });
});
