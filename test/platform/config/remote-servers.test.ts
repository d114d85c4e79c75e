import { describe, expect, it } from 'vitest';
import { parseKserveServers, parseRemoteEndpoints } from '../../../src/platform/config/remote-servers.ts';

const SECRET = 'Bearer a secret of the operator';
const server = { name: 'triton', url: 'https://triton.internal:8000/', headers: { Authorization: SECRET } };
const remote = {
  endpoint: 'render.background',
  modelVersion: 'my-cutter@2026-11-02',
  url: 'https://cluster.internal/dispatches',
};

it('remote servers and endpoints are read with the given fields and the defaults', () => {
  expect(parseKserveServers('[]')).toEqual([]);
  expect(parseKserveServers(JSON.stringify([server]))).toEqual([
    { ...server, url: 'https://triton.internal:8000', timeoutMs: 30_000 },
  ]);
  expect(
    parseRemoteEndpoints(JSON.stringify([remote, { ...remote, endpoint: 'vin.read', heartbeatTimeoutSeconds: 5 }])),
  ).toEqual([
    { ...remote, headers: {}, heartbeatTimeoutMs: 30_000 },
    { ...remote, endpoint: 'vin.read', headers: {}, heartbeatTimeoutMs: 5_000 },
  ]);
});

describe('an invalid list of remote servers', () => {
  it.each([
    [`[{"headers":"${SECRET}"`, 'must be a JSON list'],
    ['{}', 'must be a JSON list'],
    ['["triton"]', '[0] is not an object'],
    [JSON.stringify([{ ...server, key: SECRET }]), 'must not have [0].key'],
    [JSON.stringify([{ ...server, name: 'Triton' }]), '[0].name'],
    [JSON.stringify([server, server]), 'must name triton once'],
    [JSON.stringify([{ ...server, url: 'ftp://triton' }]), '[0].url'],
    [JSON.stringify([{ ...server, url: 'https://user:secret@triton' }]), '[0].url'],
    [JSON.stringify([{ ...server, url: 'https://triton?key=secret' }]), '[0].url'],
    [JSON.stringify([{ ...server, url: undefined }]), '[0].url'],
    [JSON.stringify([{ ...server, headers: SECRET }]), '[0].headers'],
    [JSON.stringify([{ ...server, headers: { Authorization: `${SECRET}\r\nX-More: 1` } }]), '[0].headers'],
    [JSON.stringify([{ ...server, headers: { Host: 'other' } }]), '[0].headers'],
    [JSON.stringify([{ ...server, headers: { 'Content-Length': '1' } }]), '[0].headers'],
    [JSON.stringify([{ ...server, timeoutSeconds: 0 }]), '[0].timeoutSeconds'],
    [JSON.stringify([{ ...server, timeoutSeconds: '5' }]), '[0].timeoutSeconds'],
  ])('a list of KServe servers is refused, naming the field and no secret: %s', (text, problem) => {
    const refusal = messageOf(() => parseKserveServers(text));
    expect(refusal).toContain(problem);
    expect(refusal).not.toContain('secret');
  });

  it.each([
    [[{ ...remote, endpoint: '/v1/vin' }], '[0].endpoint'],
    [[{ ...remote, modelVersion: 'latest' }], '[0].modelVersion: <model>@<release date>'],
    [[remote, remote], 'must name render.background once'],
    [[remote, { ...remote, endpoint: 'vin.read', heartbeatTimeoutSeconds: 3_601 }], '[1].heartbeatTimeoutSeconds'],
  ])('a list of remote endpoints is refused, naming the field: %j', (value, problem) => {
    expect(messageOf(() => parseRemoteEndpoints(JSON.stringify(value)))).toContain(problem);
  });
});

function messageOf(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was expected to refuse');
}
