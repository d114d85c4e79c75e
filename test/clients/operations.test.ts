/** Every operation of the OpenAPI document has a method in both clients, and no method calls anything else. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPythonsOfClient, isPythonInstalled } from '../../scripts/install-python-client.ts';
import { ManagementClient, VehicleInferenceClient } from '../../src/client/index.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { documentOf } from '../contract/service.ts';
import { describeWith } from '../support/needs.ts';
import { runPython, TIMEOUT_MS } from './run-python.ts';

const BASE = 'https://api.example.com';
const document = documentOf(endpoints);
const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
);
/** Another spelling of an endpoint. */
const ALIASES = ['POST /v1/vehicle/analyse'];

/** Methods that call the operation of another one. */
const COMPOSED = ['run', 'submit', 'dryRun', 'waitFor', 'upload', 'getArtefact'];

describe('the TypeScript client', () => {
  it('the TypeScript client calls each documented operation, and no other', async () => {
    const called: string[] = [];
    const recording: typeof fetch = async (url, init) => {
      const { pathname } = new URL(url instanceof Request ? url.url : url);
      called.push(`${init?.method} ${pathname}`);
      return answer(String(init?.method), pathname);
    };
    const client = new VehicleInferenceClient({ apiKey: 'key', baseUrl: BASE, fetch: recording });
    const management = new ManagementClient({ token: 'token', baseUrl: BASE, fetch: recording });
    for (const { slug } of endpoints) await client.submit(slug, {});
    await client.upload(new Blob(['a']));
    await client.getArtefact(`${BASE}/v1/artefacts/art_1.png`);
    for (const target of [client, management]) await callAll(target);
    const reached = called.map((call) => documented.filter((operation) => pattern(operation).test(call)));
    expect(called.filter((_, index) => reached[index]?.length === 0)).toEqual([]);
    // `/v1/x/self` is not another spelling of `/v1/x/{id}`.
    const exact = called.flatMap((call, index) => (documented.includes(call) ? [call] : (reached[index] ?? [])));
    expect(documented.filter((operation) => !exact.includes(operation) && !ALIASES.includes(operation))).toEqual([]);
  });
});

const newest = findPythonsOfClient().filter(isPythonInstalled).at(-1);

describeWith('pythonClient', 'the Python client', () => {
  it(
    'the Python client calls each documented operation, and no other',
    async () => {
      const path = join(mkdtempSync(join(tmpdir(), 'operations-')), 'openapi.json');
      writeFileSync(path, JSON.stringify(document));
      const environment = { OPENAPI_PATH: path, PYTHONPATH: 'src' };
      const line = ['-m', 'pytest', '-q', 'tests/test_operations.py'];
      expect(await runPython(newest?.environmentPython ?? '', line, environment)).toMatch(/^1 passed in /m);
    },
    TIMEOUT_MS,
  );
});

function answer(method: string, pathname: string): Response {
  if (method === 'DELETE') return new Response(null, { status: 204 });
  const job = { object: 'list', data: [], has_more: false, id: 'x', status: 'succeeded' };
  if (/^\/v1\/jobs\/.*\/events$/.test(pathname)) return new Response(`data: ${JSON.stringify(job)}\n\n`);
  const isAnnounced = method === 'POST' && pathname === '/v1/uploads';
  const upload = { received_bytes: 0, upload_url: `${BASE}/v1/uploads/upl_1/content`, upload_headers: {} };
  return Response.json(isAnnounced ? upload : job);
}

/** Calls every public method with an id where it takes arguments. */
async function callAll(target: object): Promise<void> {
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(target)).filter(
    (name) => name !== 'constructor' && !COMPOSED.includes(name),
  );
  expect(methods.length).toBeGreaterThan(10);
  for (const name of methods) {
    const method = (target as Record<string, (...args: unknown[]) => unknown>)[name];
    // Ids come first. In the generated client, queries, bodies and options have defaults.
    const count = target instanceof ManagementClient ? (method?.length ?? 0) : 1;
    const ids = Array.from({ length: count }, () => 'x1');
    const result = await method?.apply(target, ids);
    if (result && typeof result === 'object' && Symbol.asyncIterator in result) {
      for await (const _ of result as AsyncIterable<unknown>) break;
    }
  }
}

function pattern(operation: string): RegExp {
  return new RegExp(`^${operation.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
