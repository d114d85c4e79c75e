/** Truncated bodies, and bodies that contradict their headers. */
import { Agent } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { jpeg, jpegOfSize } from '../support/pictures.ts';
import { answerTo, BOUNDARY, MULTIPART, MULTIPART_END, openRequest, partHead } from '../support/raw-request.ts';
import { DASHBOARD_READ, everythingKept, expectRefusal } from '../support/requests.ts';

let api: TestApi;
let key: string;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  key = (await createCustomer(api.orm)).keys.test;
});

const JSON_HEADERS = { 'Content-Type': 'application/json' };

async function send(chunks: (string | Buffer)[], headers: Record<string, string> = MULTIPART, agent?: Agent) {
  const opened = openRequest(api, { path: DASHBOARD_READ, key, headers, agent });
  const answer = answerTo(opened);
  for (const chunk of chunks) opened.write(chunk);
  opened.end();
  return answer;
}

const post = (body: RequestInit['body'], headers: Record<string, string>) =>
  api.call(DASHBOARD_READ, { method: 'POST', key, body, headers });

describe('refused multipart bodies', () => {
  it('a multipart body that ends in the middle of the file is refused', () =>
    expectRefusal(api, () => send([partHead('image', 'a.jpg'), jpeg]), { code: 'malformed_request' }));

  it('a multipart body that ends in the middle of a large file is refused', () =>
    expectRefusal(api, () => send([partHead('image', 'a.jpg'), jpegOfSize(3_000_000)]), { code: 'malformed_request' }));

  it('a multipart body that ends within the headers of a part is refused', () =>
    expectRefusal(api, () => send([partHead('image', 'a.jpg').slice(0, -30)]), { code: 'malformed_request' }));

  it('a multipart body that ends before the final boundary is refused', () =>
    expectRefusal(api, () => send([partHead('image', 'a.jpg'), jpeg, `\r\n--${BOUNDARY}\r\n`]), {
      code: 'malformed_request',
    }));

  it('a multipart body is refused when the headers of a part are malformed and much data follows', () =>
    expectRefusal(
      api,
      () =>
        send([
          `--${BOUNDARY}\r\n\0\0: \r\n\r\n`,
          ...Array.from({ length: 20 }, () => Buffer.alloc(100_000)),
          MULTIPART_END,
        ]),
      { code: 'malformed_request' },
    ));

  it('a multipart body whose header names no boundary is refused', () =>
    expectRefusal(
      api,
      () => send([partHead('image', 'a.jpg'), jpeg, MULTIPART_END], { 'Content-Type': 'multipart/form-data' }),
      {
        code: 'malformed_request',
      },
    ));

  it('a multipart body whose boundary does not match the header is refused', () =>
    expectRefusal(
      api,
      () =>
        send([partHead('image', 'a.jpg'), jpeg, MULTIPART_END], {
          'Content-Type': 'multipart/form-data; boundary=another',
        }),
      { code: 'malformed_request' },
    ));
});

describe('a client that disconnects during the upload', () => {
  it.each([
    {
      of: 'a picture',
      headers: MULTIPART,
      body: Buffer.concat([Buffer.from(partHead('image', 'a.jpg')), jpegOfSize(1_000_000)]),
    },
    { of: 'a parameter', headers: MULTIPART, body: Buffer.from(`${partHead('unit_hint')}k`) },
    { of: 'JSON', headers: JSON_HEADERS, body: Buffer.from('{"input_ref":') },
  ])(
    'a client that disconnects during the upload of $of leaves nothing, and is not counted as a failure of the service',
    async ({ of, headers, body }) => {
      const before = await everythingKept(api);
      const requestId = `hung-up-in-${of.replace(' ', '-')}`;
      const opened = openRequest(api, { path: DASHBOARD_READ, key, headers: { ...headers, 'Request-Id': requestId } });
      opened.on('error', () => {});
      opened.write(body, () => opened.destroy());
      const line = await api.log.waitFor((line) => line.requestId === requestId);
      expect(line).toMatchObject({ msg: 'request', status: 400 });
      expect(await everythingKept(api)).toEqual(before);
    },
  );
});

describe('refused JSON bodies', () => {
  it.each(['{"input_ref":', '', 'input_ref=upl_1', '\ufeff{}', '{"input_ref": NaN}'])(
    'a JSON body that is not JSON is refused: %j',
    async (body) => {
      await expectRefusal(api, () => send([body], JSON_HEADERS), { code: 'malformed_request' });
    },
  );

  it.each(['[]', '"upl_1"', 'null', '12', '[{"input_ref":"upl_11111111"}]'])(
    'a JSON body that is not an object is refused: %s',
    async (body) => {
      await expectRefusal(api, () => post(body, JSON_HEADERS), { code: 'malformed_request' });
    },
  );

  it('a JSON body that is nested 100,000 deep is refused', () =>
    expectRefusal(api, () => post(`{"input_ref":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, JSON_HEADERS), {
      code: 'malformed_request',
    }));

  it('a JSON body that exceeds 1 MB is refused, and the response arrives', async () => {
    const answer = await expectRefusal(api, () => post(`{"input_ref":"${'x'.repeat(1024 * 1024)}"}`, JSON_HEADERS), {
      code: 'file_too_large',
    });
    expect(answer.status).toBe(413);
  });

  it('a JSON body that far exceeds 1 MB is refused, and the response arrives', () =>
    expectRefusal(api, () => post(`{"input_ref":"${'x'.repeat(12 * 1024 * 1024)}"}`, JSON_HEADERS), {
      code: 'file_too_large',
    }));
});

describe('bodies of other types', () => {
  it.each(['image/jpeg', 'application/x-www-form-urlencoded', 'text/plain', 'multipart/mixed; boundary=x'])(
    'a body of the type %s is refused',
    async (type) => {
      const answer = await expectRefusal(api, () => post(new Uint8Array(jpeg), { 'Content-Type': type }), {
        code: 'unsupported_media_type',
      });
      expect(answer.status).toBe(415);
    },
  );

  it('a request without a body is refused as a body of another type is', () =>
    expectRefusal(api, () => api.call(DASHBOARD_READ, { method: 'POST', key }), { code: 'unsupported_media_type' }));
});

describe('connections after a refused body', () => {
  const rest = Array.from({ length: 30 }, () => Buffer.alloc(100_000));
  it.each([
    {
      what: 'a file that is too large',
      headers: MULTIPART,
      body: [partHead('image', 'a.jpg'), jpegOfSize(11_000_000), MULTIPART_END],
    },
    {
      what: 'multipart that is broken',
      headers: MULTIPART,
      body: [`--${BOUNDARY}\r\n\0\0: \r\n\r\n`, ...rest, MULTIPART_END],
    },
    { what: 'multipart without a boundary', headers: { 'Content-Type': 'multipart/form-data' }, body: rest },
    { what: 'JSON that is too large', headers: JSON_HEADERS, body: rest },
    { what: 'a picture as such', headers: { 'Content-Type': 'image/jpeg' }, body: rest },
  ])('a connection stays usable after the service refuses $what', async ({ headers, body }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 3; round += 1) {
      const refused = await send(body, headers, agent);
      expect([400, 413, 415]).toContain(refused.status);
      const accepted = await send([partHead('image', 'a.jpg'), jpeg, MULTIPART_END], MULTIPART, agent);
      expect(accepted.status).toBe(202);
    }
    agent.destroy();
  });
});
