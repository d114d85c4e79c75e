/** The Python client, built and installed, on the oldest and the newest Python, against a running service in test mode. */
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findPythonsOfClient, isPythonInstalled, type PythonOfClient } from '../../scripts/install-python-client.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { signatureHeaders } from '../../src/webhooks/signing.ts';
import { documentOf, settle, startTestMode } from '../contract/service.ts';
import type { TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { describeWith } from '../support/needs.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { CLIENT, runPython, TIMEOUT_MS } from './run-python.ts';

const pythons = findPythonsOfClient().filter(isPythonInstalled);

let api: TestApi;
let environment: NodeJS.ProcessEnv;
let library: string;
let organizationId: string;

beforeAll(async () => {
  if (pythons.length === 0) return;
  const folder = mkdtempSync(join(tmpdir(), 'python-client-'));
  library = join(folder, 'library');
  const newest = pythons.at(-1) as PythonOfClient;
  // As `pip install` does, but with the build tool of the environment: nothing is downloaded.
  const options = ['--quiet', '--no-deps', '--no-build-isolation', '--disable-pip-version-check', '--target', library];
  await runPython(newest.environmentPython, ['-m', 'pip', 'install', ...options, CLIENT], {});
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(documentOf(endpoints)));
  api = await startTestMode({ hasOwnLinks: true });
  const customer = await createCustomer(api.orm);
  organizationId = customer.organizationId;
  const { job } = await settle(api, customer);
  environment = {
    OPENAPI_PATH: join(folder, 'openapi.json'),
    SIGNED_DELIVERY: JSON.stringify(signedDelivery(job)),
    EXAMPLE_PICTURE: join(PROJECT_DIRECTORY, 'training/examples/day-miles-seven-segment.jpg'),
    VEHICLE_INFERENCE_BASE_URL: api.url,
    VEHICLE_INFERENCE_API_KEY: customer.keys.test,
    PYTHONPATH: library,
  };
}, TIMEOUT_MS);

afterAll(async () => {
  await api?.close();
});

describeWith('pythonClient', 'the Python client', () => {
  it.each(pythons)(
    'the Python client passes its own tests on Python $version, the tour of its README among them',
    async ({ environmentPython }) => {
      const MANAGEMENT_TOKEN = await lastingToken();
      const line = ['-m', 'pytest', '-q', '--ignore=tests/test_operations.py', 'tests'];
      const output = await runPython(environmentPython, line, { ...environment, MANAGEMENT_TOKEN });
      expect(output).toMatch(/^\d+ passed in /m);
    },
    TIMEOUT_MS,
  );
});

describeWith('pythonClient', 'the package', () => {
  it('the Python package contains its types, and no other module', () => {
    expect(readdirSync(library).filter((name) => !name.endsWith('.dist-info'))).toEqual(['vehicle_inference']);
    expect(readdirSync(join(library, 'vehicle_inference'))).toContain('py.typed');
  });

  it(
    'the Python package is typed throughout, as strict as mypy checks',
    async () => {
      const { environmentPython } = pythons.at(-1) as PythonOfClient;
      const output = await runPython(environmentPython, ['-m', 'mypy', '-p', 'vehicle_inference'], { MYPYPATH: 'src' });
      expect(output).toMatch(/^Success: no issues found/m);
    },
    TIMEOUT_MS,
  );
});

/** Valid for almost an hour, the longest that the service accepts. */
function lastingToken(): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const expiresAt = new Date((now + 3_500) * 1000);
  return api.identity.token({ organizationId }, { expiresAt, claims: { iat: now } });
}

function signedDelivery(job: object) {
  const body = JSON.stringify({ id: 'evt_1', type: 'job.succeeded', data: { object: job } });
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const timestampSeconds = 1_795_254_871;
  const headers = signatureHeaders({ eventId: 'evt_1', body, timestampSeconds, secrets: [secret] });
  return { body, secret, timestamp: timestampSeconds, signature: headers['service-signature'] };
}
