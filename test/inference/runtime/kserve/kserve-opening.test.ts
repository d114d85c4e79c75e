/** Which models on a KServe server are not served: the server and `model.json` must agree before any job runs. */
import { describe, expect, it } from 'vitest';
import { type Setting, secret, useKserveServer } from '../../support/kserve-setting.ts';
import { rejectionOf } from '../../support/tiny-endpoint.ts';

const kserve = useKserveServer();

describe('a model on a KServe server', () => {
  const cases: { what: string; setting?: Setting; arrange?: () => void; reason: RegExp }[] = [
    {
      what: 'whose server is not ready',
      arrange: () => {
        kserve.server.isReady = false;
      },
      reason: /^files\.tiny\.kserve: far responds to \/v2\/health\/ready with 503/,
    },
    {
      what: 'that the server does not have',
      setting: { file: { kserve: { server: 'far', model: 'other' } } },
      reason: /^files\.tiny\.kserve: far responds to \/v2\/models\/other\/ready with 404: .*there is no such thing/,
    },
    {
      what: 'whose server KSERVE_SERVERS does not have',
      setting: { file: { kserve: { server: 'near', model: 'tiny' } } },
      reason: /^files\.tiny\.kserve: KSERVE_SERVERS has no server near; it has far/,
    },
    {
      what: 'whose server cannot be reached',
      setting: { server: { url: 'http://127.0.0.1:9' } },
      reason: /^files\.tiny\.kserve: http:\/\/127\.0\.0\.1:9: .*ECONNREFUSED/,
    },
    {
      what: 'whose inputs the server names otherwise',
      arrange: () => {
        kserve.server.metadata.inputs = [{ name: 'images', datatype: 'FP32', shape: [-1] }];
      },
      reason: /^files\.tiny\.inputs\.x: the server has images; files\.tiny\.inputs\.images is missing: the server asks/,
    },
    {
      what: 'whose input has another datatype there',
      arrange: () => {
        kserve.server.metadata.inputs = [{ name: 'x', datatype: 'FP16', shape: [-1] }];
      },
      reason: /^files\.tiny\.inputs\.x\.dtype: the server's is FP16/,
    },
    {
      what: 'whose output has another shape there',
      arrange: () => {
        kserve.server.metadata.outputs = [{ name: 'y', datatype: 'FP32', shape: [1, -1] }];
      },
      reason: /^files\.tiny\.outputs\.y\.shape is \[N\], the server's \[1, -1\]/,
    },
    {
      what: 'whose output has another datatype there than model.json states',
      setting: { file: { outputs: { y: { shape: ['N'], dtype: 'int64' } } } },
      reason: /^files\.tiny\.outputs\.y\.dtype: the server's is FP32/,
    },
    {
      what: 'whose name there leads elsewhere',
      setting: { file: { kserve: { server: 'far', model: '../../admin' } } },
      reason: /files\.tiny\.kserve\.model must match pattern/,
    },
  ];

  it.each(cases)('a model $what is not served', async ({ setting, arrange, reason }) => {
    arrange?.();
    const refusal = (await rejectionOf((async () => kserve.open(setting))())) as Error;
    expect(refusal.message).toMatch(reason);
    expect(refusal.message + kserve.logged()).not.toContain(secret.Authorization);
  });

  it.each([
    { what: 'with a file as well', file: { path: 'tiny.onnx' } },
    { what: 'with neither a file nor a server', file: { kserve: undefined } },
  ])('a model $what is not served', async ({ file }) => {
    expect((await kserve.start({ file })).installedEndpoints()).toEqual([]);
    expect(kserve.logged()).toMatch(/files\.tiny must have path and sha256, or kserve instead/);
  });

  it('a model whose outputs differ from model.json is not served, even if the server lists none', async () => {
    kserve.server.metadata = {};
    kserve.server.onInfer = (response) => {
      const outputs = [{ name: 'z', datatype: 'FP32', shape: [1], data: [[1]] }];
      response.writeHead(200).end(JSON.stringify({ outputs }));
    };
    expect((await kserve.start()).installedEndpoints()).toEqual([]);
    expect(kserve.logged()).toMatch(/tiny\/tiny has no output y/);
  });
});
