/** How the worker talks to KServe servers: paths, headers, sizes and certificates. */
import { expect, it } from 'vitest';
import { createHttpClient } from '../../../../src/inference/runtime/kserve/http-exchange.ts';
import { selfSignedCertificate } from '../../../webhooks/self-signed-certificate.ts';
import { FORTY_ONE, never, secret, useKserveServer } from '../../support/kserve-setting.ts';

const kserve = useKserveServer();

it("a child process reaches only the protocol's paths on a server, with allowed headers only", async () => {
  const askServer = kserve.ask({});
  for (const path of [
    '/metrics',
    '/v2/repository/index',
    '/v2/models/../../metrics',
    '/v2/models/tiny/infer?x=1',
    '//evil/v2',
  ]) {
    for (const body of [undefined, { headers: {}, content: new Uint8Array() }]) {
      const answer = await askServer({ server: 'far', path, ...(body && { body }) }, never.signal);
      expect(answer).toEqual({
        problem: expect.stringContaining('is not a path of the KServe v2 protocol'),
        mayPass: false,
      });
    }
  }
  expect(kserve.server.requests).toEqual([]);
  const body = {
    headers: { authorization: 'other', 'x-more': '1', 'content-type': 'text/plain' },
    content: Buffer.from('{"inputs":[]}'),
  };
  await askServer({ server: 'far', path: '/v2/models/tiny/infer', body }, never.signal);
  const headers = kserve.server.requests[0]?.headers;
  expect(headers).toMatchObject({ authorization: secret.Authorization, 'content-type': 'text/plain' });
  expect(headers).not.toHaveProperty('x-more');
});

it('an answer of a server is read up to its size limit', async () => {
  kserve.server.onInfer = (response) => response.writeHead(200).end('x'.repeat(2_000));
  const http = createHttpClient();
  kserve.closeLater(() => http.close());
  const exchange = {
    method: 'POST',
    url: `${kserve.server.url}/v2/models/tiny/infer`,
    body: '{}',
    timeoutMs: 20_000,
  } as const;
  expect((await http.exchange({ ...exchange, maximumBytes: 2_000 })).body).toHaveLength(2_000);
  await expect(http.exchange({ ...exchange, maximumBytes: 1_999 })).rejects.toThrow('more than 1999 bytes');
});

it('a server over TLS must have a trusted certificate', async () => {
  const { certificate, key } = selfSignedCertificate('127.0.0.1');
  await kserve.restart({ tls: { key, cert: certificate } });
  await expect(kserve.open()).rejects.toThrow(/^files\.tiny\.kserve: https:\/\/127\.0\.0\.1:\d+: .*certificate/);
  const network = await kserve.open({ client: { certificateAuthorities: certificate } });
  expect((await network.run(FORTY_ONE)).y?.data).toEqual(Float32Array.of(42));
});
