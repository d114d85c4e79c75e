/** Request fields and options besides the image, in both encodings. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileValidator } from '../../src/api/requests/validator.ts';
import { COUNTRIES } from '../../src/contracts/vocabulary/countries.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { Job } from '../../src/jobs/entities.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { jpeg } from '../support/pictures.ts';
import { DASHBOARD_READ, expectRefusal, filePart, form, type ReadRequest, read, upload } from '../support/requests.ts';

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

describe.each(Object.entries(ENCODINGS))('parameters in %s', (encoding, request) => {
  const isJson = encoding === 'JSON';
  const flag = (value: boolean) => (isJson ? value : String(value));

  it(`an omitted field has its default in ${encoding}`, async () => {
    expect(await parametersOf(request({}))).toEqual({ read_warning_lights: true });
  });

  it.each(['km', 'mi'])(`unit_hint may be %s in ${encoding}`, async (unit_hint) => {
    expect(await parametersOf(request({ unit_hint }))).toEqual({ read_warning_lights: true, unit_hint });
  });

  it.each([true, false])(`read_warning_lights may be %s in ${encoding}`, async (value) => {
    expect(await parametersOf(request({ read_warning_lights: flag(value) }))).toEqual({ read_warning_lights: value });
  });

  it.each(['miles', 'KM', ''])(`unit_hint "%s" is refused in ${encoding}`, async (unit_hint) => {
    await expectRefusal(api, () => read(api, { key, ...request({ unit_hint }) }), {
      code: 'parameter_invalid',
      param: 'unit_hint',
    });
  });

  it.each(isJson ? ['true', 1, null, ['true']] : ['yes', '1', '', 'TRUE'])(
    `read_warning_lights %j is refused in ${encoding}`,
    async (value) => {
      await expectRefusal(api, () => read(api, { key, ...request({ read_warning_lights: value }) }), {
        code: 'parameter_invalid',
        param: 'read_warning_lights',
      });
    },
  );

  it.each(['unit', 'Unit_hint', 'livemode', '__proto__', 'constructor'])(
    `the unknown field "%s" is refused in ${encoding}`,
    async (name) => {
      const fields: Fields = Object.fromEntries([[name, 'km']]);
      await expectRefusal(api, () => read(api, { key, ...request(fields) }), {
        code: 'parameter_unknown',
        param: name,
      });
    },
  );
});

it('a field given twice in multipart is refused', async () => {
  const body = form({ fields: { unit_hint: 'km' } });
  body.append('unit_hint', 'mi');
  const answer = await expectRefusal(api, () => api.call(DASHBOARD_READ, { method: 'POST', key, body }), {
    code: 'parameter_invalid',
    param: 'unit_hint',
  });
  expect(answer.error.message).toMatch(/more than once/);
});

describe('duplicate names in JSON', () => {
  const post = (path: string, body: string) =>
    api.call(path, { method: 'POST', key, headers: { 'Content-Type': 'application/json' }, body });

  it.each([
    [DASHBOARD_READ, () => `{"input_ref":"${uploadId}","unit_hint":"km","unit_hint":"mi"}`, 'unit_hint'],
    [DASHBOARD_READ, () => `{"input_ref":"${uploadId}","input_ref":"${uploadId}"}`, 'input_ref'],
    ['/v1/pricing/vehicle', () => '{"vehicle":{"make":"A","model":"B","year":2020,"year":2021}}', 'vehicle.year'],
    ['/v1/uploads', () => '{"filename":"a.jpg","bytes":1,"bytes":2,"mime_type":"image/jpeg"}', 'bytes'],
  ])('a duplicate name in JSON is refused by %s', async (path, body, param) => {
    const answer = await expectRefusal(api, () => post(path, body()), { code: 'parameter_invalid', param });
    expect(answer.error.message).toMatch(/more than once/);
  });

  it('a duplicate name is also refused in a multipart field that holds JSON', () => {
    const body = form({ image: null, fields: { vehicle: '{"make":"A","make":"B","model":"C","year":2020}' } });
    return expectRefusal(api, () => api.call('/v1/pricing/vehicle', { method: 'POST', key, body }), {
      code: 'parameter_invalid',
      param: 'vehicle.make',
    });
  });
});

it('a model year after next year is refused', async () => {
  const price = (year: number) => {
    const fields = { vehicle: JSON.stringify({ make: 'Talvera', model: 'Lumo', year }) };
    const body = form({ image: null, fields });
    return api.call('/v1/pricing/vehicle', { method: 'POST', key, body });
  };
  const thisYear = new Date().getUTCFullYear();
  expect((await price(thisYear + 1)).status).toBe(202);
  await expectRefusal(api, () => price(thisYear + 2), { code: 'parameter_invalid', param: 'vehicle.year' });
});

describe('a list in multipart', () => {
  const post = (path: string, fields: readonly (readonly [string, string])[], image: string | null) => {
    const body = form({ image: null });
    for (const [name, value] of fields) body.append(name, value);
    if (image) body.append(image, filePart(jpeg), 'picture.jpg');
    return api.call(path, { method: 'POST', key, body });
  };
  const enhance = (fields: readonly (readonly [string, string])[]) => post('/v1/render/enhance', fields, 'image');
  const repair = (...damages: string[]) =>
    post(
      '/v1/pricing/repair',
      damages.map((damage) => ['damages', damage] as const),
      null,
    );
  const parametersIn = async ({ status, job }: Awaited<ReturnType<typeof post>>) => {
    expect(status).toBe(202);
    return (await api.orm.em.fork().findOneOrFail(Job, { id: job.id })).parameters;
  };
  const [dent, scratch] = ['{"type":"dent","part":"hood"}', '{"type":"scratch","part":"roof"}'];

  it.each([
    { form: 'a part for each item', fields: [['operations', 'denoise'] as const, ['operations', 'upscale'] as const] },
    {
      form: 'parts named with []',
      fields: [['operations[]', 'denoise'] as const, ['operations[]', 'upscale'] as const],
    },
    { form: 'a JSON list', fields: [['operations', ' ["denoise", "upscale"]'] as const] },
  ])('a list of values in multipart is $form', async ({ fields }) => {
    expect(await parametersIn(await enhance(fields))).toMatchObject({ operations: ['denoise', 'upscale'] });
  });

  it('a list of one value in multipart is that value or a JSON list of it', async () => {
    for (const text of ['denoise', '["denoise"]']) {
      expect(await parametersIn(await enhance([['operations', text]]))).toMatchObject({ operations: ['denoise'] });
    }
  });

  it('a list of objects in multipart is a part with JSON for each, or a JSON list', async () => {
    const damages = [JSON.parse(dent), JSON.parse(scratch)];
    expect(await parametersIn(await repair(dent, scratch))).toMatchObject({ damages });
    expect(await parametersIn(await repair(`[${dent},${scratch}]`))).toMatchObject({ damages });
    expect(await parametersIn(await repair(dent))).toMatchObject({ damages: damages.slice(0, 1) });
  });

  it.each([
    ['["denoise"', 'operations'],
    ['["soften"]', 'operations.0'],
    ['[]', 'operations'],
  ])('a list in multipart is refused when it is malformed: operations=%s', async (text, param) => {
    await expectRefusal(api, () => enhance([['operations', text]]), { code: 'parameter_invalid', param });
  });

  it('a list of objects in multipart is refused with the place of the fault', async () => {
    await expectRefusal(api, () => repair(dent, 'a dent'), { code: 'parameter_invalid', param: 'damages.1' });
    await expectRefusal(api, () => repair(dent, '{"type":"dent","type":"rust"}'), {
      code: 'parameter_invalid',
      param: 'damages.1.type',
    });
    await expectRefusal(api, () => repair('{"part":"hood"}'), { code: 'parameter_missing', param: 'damages.0.type' });
  });
});

describe('numbers in text', () => {
  const HOSTILE = ['1e999', '-1e999', 'Infinity', 'NaN', '0x1', '0b11', '+3', ' 3 ', '3 ', '03', '.5', '5.', '1_0', ''];
  const identify = (fields: Record<string, string>) => {
    const body = form({ image: null, fields });
    body.append('images', filePart(jpeg), 'vehicle.jpg');
    return api.call('/v1/vehicle/identify', { method: 'POST', key, body });
  };

  it.each(HOSTILE)('the number "%s" is refused in multipart and in a query', async (text) => {
    const refusal = { code: 'parameter_invalid', param: 'max_candidates' } as const;
    await expectRefusal(api, () => identify({ max_candidates: text }), refusal);
    for (const param of ['limit', 'created[gte]']) {
      const send = () => api.call(`/v1/jobs?${param}=${encodeURIComponent(text)}`, { key });
      await expectRefusal(api, send, { code: 'parameter_invalid', param });
    }
  });

  it.each(['3', '3.0', '3e0', '30E-1'])('the number %s in text has its JSON value', async (text) => {
    const answer = await identify({ max_candidates: text });
    expect(answer.status).toBe(202);
    const job = await api.orm.em.fork().findOneOrFail(Job, { id: answer.job.id });
    expect(job.parameters).toMatchObject({ max_candidates: 3 });
  });

  it('the number 1e999 is refused in JSON', () =>
    expectRefusal(
      api,
      () =>
        api.call('/v1/vehicle/identify', {
          method: 'POST',
          key,
          headers: { 'Content-Type': 'application/json' },
          body: `{"input_refs":["${uploadId}"],"max_candidates":1e999}`,
        }),
      { code: 'parameter_invalid', param: 'max_candidates' },
    ));

  const numeric = endpoints.flatMap(({ slug, parameters }) =>
    Object.entries(parameters.properties)
      .filter(([, { type }]: [string, { type?: unknown }]) => type === 'number' || type === 'integer')
      .map(([param, schema]) => ({ slug, param, schema, parameters })),
  );

  it.each(numeric)('the number $param of $slug has bounds', ({ param, schema, parameters }) => {
    const bounds = schema as { minimum?: number; maximum?: number; enum?: number[] };
    const { minimum, maximum } = bounds.enum ? { minimum: 0, maximum: 0 } : bounds;
    expect([minimum, maximum].every(Number.isSafeInteger)).toBe(true);
    const validate = compileValidator(parameters, 'multipart');
    for (const text of HOSTILE) {
      expect(() => validate({ [param]: text })).toThrow(expect.objectContaining({ code: 'parameter_invalid', param }));
    }
  });
});

describe('money', () => {
  const vehicle = { make: 'Talvera', model: 'Lumo', year: 2022 };
  const price = (parameters: object) =>
    api.call('/v1/pricing/vehicle', {
      method: 'POST',
      key,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ vehicle, ...parameters }),
    });

  it.each(['ZZ', 'UK', 'EU', 'de', 'DEU', ''])(
    'the country "%s" is refused, because ISO 3166-1 does not list it',
    async (country) => {
      await expectRefusal(api, () => price({ country }), { code: 'parameter_invalid', param: 'country' });
    },
  );

  it('the refusal of a country is short enough to read', async () => {
    expect((await price({ country: 'ZZ' })).error.message.length).toBeLessThan(200);
  });

  it('every country has a name', () => {
    const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
    expect(COUNTRIES).toHaveLength(249);
    expect(new Set(COUNTRIES).size).toBe(249);
    expect(COUNTRIES.filter((code) => !names.of(code))).toEqual([]);
  });

  it.each([1_000_000_000_001, Number.MAX_SAFE_INTEGER])('repairs of %d are refused', async (repair_estimate_total) => {
    await expectRefusal(api, () => price({ repair_estimate_total }), {
      code: 'parameter_invalid',
      param: 'repair_estimate_total',
    });
  });

  it('repairs of the documented maximum are accepted', async () => {
    expect((await price({ repair_estimate_total: 1_000_000_000_000, currency: 'JPY' })).status).toBe(202);
  });
});

describe('missing parameters', () => {
  it.each([
    ['/v1/render/hotspots', {}, 'input_ref'],
    ['/v1/pricing/repair', {}, 'damages'],
    ['/v1/pricing/vehicle', {}, 'vehicle'],
    ['/v1/pricing/vehicle', { vehicle: {} }, 'vehicle.make'],
  ])('a missing parameter is named by %s with %j', async (path, body, param) => {
    await expectRefusal(
      api,
      () =>
        api.call(path, {
          method: 'POST',
          key,
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      { code: 'parameter_missing', param },
    );
  });

  it('a missing parameter is named by /v1/render/hotspots in multipart, without a file', () =>
    expectRefusal(
      api,
      () =>
        api.call('/v1/render/hotspots', {
          method: 'POST',
          key,
          body: form({ image: null, fields: { min_confidence: '0.5' } }),
        }),
      { code: 'parameter_missing', param: 'image' },
    ));
});

it('a compressed body is refused', () =>
  expectRefusal(
    api,
    () =>
      api.call(DASHBOARD_READ, {
        method: 'POST',
        key,
        headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
        body: gzipSync(JSON.stringify({ input_ref: uploadId })),
      }),
    { code: 'unsupported_media_type', param: 'Content-Encoding' },
  ));

it('a body that is said to be unpacked is read, however that is spelt', async () => {
  const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'Identity' };
  const body = JSON.stringify({ input_ref: uploadId });
  expect((await api.call(DASHBOARD_READ, { method: 'POST', key, headers, body })).status).toBe(202);
});

it('a duplicate query parameter is refused', async () => {
  const send = () => api.call('/v1/jobs?limit=1&limit=2', { key });
  const answer = await expectRefusal(api, send, { code: 'parameter_invalid', param: 'limit' });
  expect(answer.error.message).toMatch(/more than once/);
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

describe('text that PostgreSQL cannot store', () => {
  const JSON_HEADERS = { 'Content-Type': 'application/json' };
  const post = (path: string, body: unknown) =>
    api.call(path, { method: 'POST', key, headers: JSON_HEADERS, body: JSON.stringify(body) });

  it.each(['a\0b', '\ud800', 'x\udc00y'])('text that PostgreSQL cannot store is refused: %j', async (text) => {
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

  it('text that PostgreSQL can store is stored unchanged', async () => {
    const make = 'Škoda 🚗 \u0001 \\u0000 "quoted"';
    const answer = await post('/v1/pricing/vehicle', { vehicle: { make, model: 'Golf', year: 2020 } });
    expect(answer.status).toBe(202);
    const job = await api.orm.em.fork().findOneOrFail(Job, { id: answer.job.id });
    expect(job.parameters).toMatchObject({ vehicle: { make } });
  });
});

describe('X-Service-Test-Scenario', () => {
  it.each(['unknown', 'MODEL_ERROR', 'toString', 'slow, model_error'])(
    'X-Service-Test-Scenario "%s" is refused',
    async (scenario) => {
      await expectRefusal(api, () => read(api, { key, scenario }), {
        code: 'test_scenario_not_supported',
        param: 'X-Service-Test-Scenario',
      });
    },
  );

  it('X-Service-Test-Scenario insufficient_credits is refused with 402, and no job is created', async () => {
    const send = () => read(api, { key, scenario: 'insufficient_credits', idempotencyKey: 'no-credits-left' });
    const answer = await expectRefusal(api, send, { code: 'insufficient_credits' });
    expect(answer.status).toBe(402);
  });

  it('X-Service-Test-Scenario is shown on the job that it steers, and on no other', async () => {
    expect((await read(api, { key, scenario: 'empty_result' })).job.test_scenario).toBe('empty_result');
    expect((await read(api, { key })).json).not.toHaveProperty('test_scenario');
  });
});

describe('wait', () => {
  it.each(['maybe', '1', 'TRUE', '', 'true%20'])('wait "%s" is refused', async (value) => {
    await expectRefusal(api, () => read(api, { key, query: `?wait=${value}` }), {
      code: 'parameter_invalid',
      param: 'wait',
    });
  });

  it('wait given twice is refused', () =>
    expectRefusal(api, () => read(api, { key, query: '?wait=true&wait=true' }), {
      code: 'parameter_invalid',
      param: 'wait',
    }));

  it('wait=false responds at once', async () => {
    expect((await read(api, { key, query: '?wait=false' })).status).toBe(202);
  });
});

describe('Idempotency-Key', () => {
  it.each([0, 7, 256])('an Idempotency-Key of %d characters is refused', async (length) => {
    await expectRefusal(api, () => read(api, { key, idempotencyKey: 'k'.repeat(length) }), {
      code: 'idempotency_key_invalid',
      param: 'Idempotency-Key',
    });
  });

  it.each([8, 255])('an Idempotency-Key of %d characters is accepted', async (length) => {
    expect((await read(api, { key, idempotencyKey: 'k'.repeat(length) })).status).toBe(202);
  });
});
