/** The programs that the console and the documentation show. */
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type Call, snippetsOf } from '../../../src/api/pages/snippets.ts';

const CALL: Call = {
  slug: 'dashboard.read',
  path: '/v1/dashboard/read',
  origin: 'https://api.example',
  field: 'image',
  takesSeveral: false,
  isUploaded: false,
  fileNames: ["it's a picture.jpg"],
  parameters: { unit_hint: 'km', read_warning_lights: false },
  scenario: 'cluster_off',
  wait: true,
};

it('the curl command survives the shell, with its file, parameters and scenario', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'snippets-'));
  writeFileSync(join(folder, CALL.fileNames[0] ?? ''), 'a picture');
  const received: { url: string; scenario: unknown; authorization: unknown; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += part.toString();
    });
    request.on('end', () => {
      const { authorization, 'x-service-test-scenario': scenario } = request.headers;
      received.push({ url: request.url ?? '', scenario, authorization, body });
      response.end();
    });
  }).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => server.once('listening', resolve));
    const { curl } = snippetsOf({ ...CALL, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    await promisify(execFile)('bash', ['-euc', curl], { cwd: folder, env: { ...process.env, API_KEY: 'key' } });
  } finally {
    server.close();
  }
  expect(received).toMatchObject([
    { url: '/v1/dashboard/read?wait=true', scenario: 'cluster_off', authorization: 'Bearer key' },
  ]);
  for (const part of ['name="unit_hint"\r\n\r\nkm', 'name="read_warning_lights"\r\n\r\nfalse', '\r\n\r\na picture']) {
    expect(received[0]?.body).toContain(part);
  }
});

it('the programs use the client of their language', () => {
  const { TypeScript, Python } = snippetsOf(CALL);
  expect(TypeScript).toContain(
    "client.run('dashboard.read', {\n  image: new Uint8Array(readFileSync(\"it's a picture.jpg\")),",
  );
  expect(TypeScript).toContain("{ testScenario: 'cluster_off' }");
  expect(Python).toContain('DashboardRead(image="it\'s a picture.jpg", unit_hint="km", read_warning_lights=False)');
  expect(Python).toContain('test_scenario="cluster_off"');
});

it('the curl command of a request without files sends JSON', () => {
  const { curl } = snippetsOf({ ...CALL, fileNames: [], scenario: null, wait: false, parameters: { a: "it's" } });
  expect(curl).toBe(`curl -sS 'https://api.example/v1/dashboard/read' \\
  -H "Authorization: Bearer $API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"a":"it'\\''s"}'`);
});
