/** Jobs of a model whose network runs on a KServe server: only tensors travel. */
import { describe, expect, it } from 'vitest';
import { until } from '../../../support/until.ts';
import { never, outputY, secret, useKserveServer } from '../../support/kserve-setting.ts';
import { rejectionOf, tinyRequest } from '../../support/tiny-endpoint.ts';

const kserve = useKserveServer();

describe.each([
  { what: 'as JSON', binary: false, contentType: 'application/json' },
  { what: 'as bytes, where the server says that it takes them', binary: true, contentType: 'application/octet-stream' },
])('tensors $what', ({ binary, contentType }) => {
  it("only tensors travel to the server; everything else runs locally, and no child process has the server's key", async () => {
    await kserve.restart({ binary });
    const backend = await kserve.start({ file: { kserve: { server: 'far', model: 'tiny', version: '7' } } });
    expect(backend.installedEndpoints()).toEqual([{ endpoint: 'tiny.add', modelVersion: 'tiny@2026-01-01' }]);
    const { status, result, chargedCredits } = await backend.infer(tinyRequest(), never);
    expect({ status, chargedCredits }).toEqual({ status: 'succeeded', chargedCredits: 5 });
    const { sum, environment } = result as { sum: number; environment: string[] };
    expect(sum).toBe(42);
    expect(environment.filter((name) => !['VIPSHOME', 'MALLOC_ARENA_MAX'].includes(name))).toEqual([]);
    expect(kserve.server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v2/health/ready',
      'GET /v2/models/tiny/versions/7/ready',
      'GET /v2',
      'GET /v2/models/tiny/versions/7',
      'POST /v2/models/tiny/versions/7/infer',
      'POST /v2/models/tiny/versions/7/infer',
    ]);
    expect(kserve.server.requests.at(-1)?.headers).toMatchObject({
      authorization: secret.Authorization,
      'content-type': contentType,
    });
  });
});

it("the reason of a model's failure is logged and hidden from the customer", async () => {
  const backend = await kserve.start();
  kserve.server.onInfer = (response) => response.writeHead(400).end('{"error":"a secret of the server"}');
  const error = await rejectionOf(backend.infer(tinyRequest(), never));
  expect(error).toMatchObject({ code: 'model_inference_failed', message: 'The model failed on this input.' });
  expect(kserve.lines.at(-1)?.fields).toMatchObject({
    err: { cause: { message: expect.stringContaining('far responds with 400: {"error":"a secret of the server"}') } },
  });
});

it('a job fails with model_inference_failed once the server has loaded another model', async () => {
  const backend = await kserve.start();
  kserve.server.onInfer = (response) => response.writeHead(200).end(outputY({ shape: [1, 1], data: [42] }));
  const error = await rejectionOf(backend.infer(tinyRequest(), never));
  expect(error).toMatchObject({ code: 'model_inference_failed', message: 'The model failed on this input.' });
  kserve.server.onInfer = null;
  expect((await backend.infer(tinyRequest(), never)).result).toMatchObject({ sum: 42 });
});

it('an aborted job is cancelled at the server, too', async () => {
  const backend = await kserve.start();
  kserve.server.onInfer = () => {};
  const controller = new AbortController();
  const outcome = rejectionOf(backend.infer(tinyRequest(), { signal: controller.signal }));
  await until(() => kserve.server.requests.filter(({ method }) => method === 'POST').length === 2, 60_000);
  controller.abort();
  expect(await outcome).toMatchObject({ name: 'AbortError' });
  await until(() => kserve.server.abandoned === 1, 60_000);
  const { pids } = backend;
  kserve.server.onInfer = null;
  expect((await backend.infer(tinyRequest(), never)).result).toMatchObject({ sum: 42 });
  expect(backend.pids).toEqual(pids);
});
