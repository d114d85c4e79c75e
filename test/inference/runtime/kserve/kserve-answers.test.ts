/** Answers of a KServe server: which failures are retryable, and which are the fault of the model. */
import { describe, expect, it } from 'vitest';
import { type Answer, FORTY_ONE, outputY, type Setting, useKserveServer } from '../../support/kserve-setting.ts';
import { rejectionOf } from '../../support/tiny-endpoint.ts';

const kserve = useKserveServer();

interface Case {
  what: string;
  answer: Answer;
}

it.each<Case & { setting?: Setting }>([
  { what: '503', answer: (response) => response.writeHead(503).end('overloaded') },
  { what: '429', answer: (response) => response.writeHead(429).end() },
  { what: 'no answer at all', answer: (response) => response.destroy() },
  { what: 'no answer in time', answer: () => {}, setting: { server: { timeoutMs: 4_000 } } },
  {
    what: 'an answer that breaks off',
    answer: (response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"outputs":', () => response.destroy());
    },
  },
])('a failure of the server is retryable, and the next attempt succeeds: $what', async ({ answer, setting }) => {
  const network = await kserve.open(setting);
  kserve.server.onInfer = answer;
  const error = await rejectionOf(network.run(FORTY_ONE));
  expect(error).toMatchObject({ code: 'model_unavailable', retryable: true });
  expect((error as Error).message).not.toMatch(/127\.0\.0\.1|overloaded/);
  kserve.server.onInfer = null;
  expect(await network.run(FORTY_ONE)).toEqual({ y: { type: 'float32', data: Float32Array.of(42), dims: [1] } });
});

it.each<Case & { reason: RegExp }>([
  {
    what: '400',
    answer: (response) => response.writeHead(400).end('{"error":"x is odd"}'),
    reason: /far responds with 400: .*x is odd/,
  },
  {
    what: '500',
    answer: (response) => response.writeHead(500).end('{"error":"x is odd"}'),
    reason: /far responds with 500: .*x is odd/,
  },
  {
    what: 'a redirect, which is not followed,',
    answer: (response) => response.writeHead(307, { location: '/v2/models/tiny/infer' }).end(),
    reason: /far responds with 307/,
  },
  {
    what: 'something that is not JSON',
    answer: (response) => response.writeHead(200).end('<html>'),
    reason: /is not a JSON object/,
  },
  {
    what: 'no outputs',
    answer: (response) => response.writeHead(200).end('{"outputs":{}}'),
    reason: /has no outputs/,
  },
  {
    what: 'an output that is nothing',
    answer: (response) => response.writeHead(200).end('{"outputs":[null]}'),
    reason: /has an output that is no object/,
  },
  {
    what: 'fewer values than the shape says',
    answer: (response) => response.writeHead(200).end(outputY({ shape: [2], data: [1] })),
    reason: /has 1 values for the shape \[2\]/,
  },
  {
    what: 'an invalid shape',
    answer: (response) => response.writeHead(200).end(outputY({ shape: [-1], data: [1] })),
    reason: /has the shape \[-1\]/,
  },
  {
    what: 'values that are no numbers',
    answer: (response) => response.writeHead(200).end(outputY({ data: ['1'] })),
    reason: /holds something that is no number/,
  },
  {
    what: 'a datatype that no pipeline reads',
    answer: (response) => response.writeHead(200).end(outputY({ datatype: 'BYTES', data: ['1'] })),
    reason: /is BYTES, not one of FP32, FP16, INT64, INT32/,
  },
  {
    what: 'a length of its JSON beyond the answer',
    answer: (response) => response.writeHead(200, { 'inference-header-content-length': '99' }).end('{}'),
    reason: /is 99, its response has 2 bytes/,
  },
  {
    what: 'fewer bytes than it states, though as many as the shape asks for,',
    answer: (response) => {
      const json = outputY({ parameters: { binary_data_size: 1_000_000_000 } });
      response.writeHead(200, { 'inference-header-content-length': String(json.length) }).end(`${json}abcd`);
    },
    reason: /states 1000000000 bytes, 999999996 more than came/,
  },
  {
    what: 'an invalid size',
    answer: (response) => {
      const json = outputY({ parameters: { binary_data_size: -4 } });
      response.writeHead(200, { 'inference-header-content-length': String(json.length) }).end(`${json}abcd`);
    },
    reason: /has the binary_data_size -4/,
  },
  {
    what: 'bytes that belong to no output',
    answer: (response) => {
      const json = outputY({ parameters: { binary_data_size: 4 } });
      response.writeHead(200, { 'inference-header-content-length': String(json.length) }).end(`${json}abcdefgh`);
    },
    reason: /4 bytes that belong to no output/,
  },
  {
    what: 'fewer bytes than announced',
    answer: (response) => {
      const json = outputY({ parameters: { binary_data_size: 4 } });
      response.writeHead(200, { 'inference-header-content-length': String(json.length) }).end(`${json}abc`);
    },
    reason: /has 3 bytes, no whole number of float32/,
  },
])("$what from the server is the model's own failure", async ({ answer, reason }) => {
  const network = await kserve.open();
  kserve.server.onInfer = answer;
  const error = (await rejectionOf(network.run(FORTY_ONE))) as Error;
  expect(error.name).toBe('Error');
  expect(error.message).toMatch(reason);
});

describe('a response of the server', () => {
  const pinned = { kserve: { server: 'far', model: 'tiny', version: '7' } };
  const versioned = (version: object) =>
    JSON.stringify({ ...version, outputs: [{ name: 'y', datatype: 'FP32', shape: [1], data: [42] }] });

  it.each([
    {
      what: 'another length of a dimension',
      file: { outputs: { y: { shape: ['N', 2] } } },
      body: outputY({ shape: [1, 3], data: [1, 2, 3] }),
      reason: /^output y of the server has the shape \[1, 3\], model\.json says \[N, 2\]$/,
    },
    {
      what: 'the same values in another shape',
      file: { outputs: { y: { shape: [2, 3] } } },
      body: outputY({ shape: [3, 2], data: [1, 2, 3, 4, 5, 6] }),
      reason: /has the shape \[3, 2\], model\.json says \[2, 3\]/,
    },
    {
      what: 'a dimension more',
      file: {},
      body: outputY({ shape: [1, 1], data: [1] }),
      reason: /has the shape \[1, 1\], model\.json says \[N\]/,
    },
    {
      what: 'another datatype',
      file: { outputs: { y: { shape: ['N'], dtype: 'float32' } } },
      body: outputY({ datatype: 'INT64', data: [1] }),
      reason: /is INT64, model\.json says float32/,
    },
    {
      what: 'another version than the pinned one',
      file: pinned,
      body: versioned({ model_version: '8' }),
      reason: /^the server serves version 8 of the model, not 7$/,
    },
  ])("a response with $what is the model's failure, whatever the metadata stated", async ({ file, body, reason }) => {
    kserve.server.metadata = {};
    const network = await kserve.open({ file });
    kserve.server.onInfer = (response) => response.writeHead(200).end(body);
    const error = (await rejectionOf(network.run(FORTY_ONE))) as Error;
    expect(error.name).toBe('Error');
    expect(error.message).toMatch(reason);
  });

  it.each([
    {
      what: 'a dimension that has a name may have any length',
      file: {},
      body: outputY({ shape: [3], data: [1, 2, 3] }),
    },
    { what: 'the pinned version is good', file: pinned, body: versioned({ model_version: '7' }) },
    { what: 'no version is good, as the protocol allows it', file: pinned, body: versioned({}) },
    { what: 'any version is good where none is pinned', file: {}, body: versioned({ model_version: '8' }) },
  ])('a response passes the check against model.json: $what', async ({ file, body }) => {
    const network = await kserve.open({ file });
    kserve.server.onInfer = (response) => response.writeHead(200).end(body);
    expect((await network.run(FORTY_ONE)).y).toMatchObject({ type: 'float32' });
  });
});

it('integers of a response keep their own type', async () => {
  const network = await kserve.open();
  const answers = [
    { datatype: 'INT64', data: [[7]], read: BigInt64Array.of(7n) },
    { datatype: 'INT32', data: [7], read: Int32Array.of(7) },
  ];
  for (const { read, ...fields } of answers) {
    kserve.server.onInfer = (response) => response.writeHead(200).end(outputY(fields));
    expect((await network.run(FORTY_ONE)).y?.data).toEqual(read);
  }
});

it('a request is retried at once when the server closes a reused connection', async () => {
  const network = await kserve.open();
  let calls = 0;
  kserve.server.onInfer = (response, respond) => {
    calls += 1;
    if (calls === 1) response.destroy();
    else respond();
  };
  expect((await network.run(FORTY_ONE)).y?.data).toEqual(Float32Array.of(42));
  expect(calls).toBe(2);
});
