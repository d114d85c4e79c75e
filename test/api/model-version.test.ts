/** `Model-Version`: an installed build can be pinned; any other is refused. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURE_VERSION } from '../../src/contracts/model-versions.ts';
import { announceInstalledEndpoints } from '../../src/jobs/installed-endpoints-store.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { MODEL_VERSION } from '../support/backends.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { installEndpoints, readJob } from '../support/jobs.ts';
import { expectRefusal, read } from '../support/requests.ts';

let api: TestApi;
let customer: Customer;

beforeAll(async () => {
  api = await startTestApi();
  await installEndpoints(api.orm);
});
afterAll(() => api.close());
beforeEach(async () => {
  customer = await createCustomer(api.orm);
});

const send = (key: string, modelVersion: string, query = '') =>
  read(api, { key, query, headers: { 'Model-Version': modelVersion } });

describe('a build that is installed', () => {
  it.each([
    { mode: 'live', version: MODEL_VERSION },
    { mode: 'staging', version: MODEL_VERSION },
    { mode: 'test', version: FIXTURE_VERSION },
  ] as const)(
    'an installed build is pinned with a $mode key, and shown once the job has started',
    async ({ mode, version }) => {
      const submitted = await send(customer.keys[mode], version);
      expect(submitted.status).toBe(202);
      expect(submitted.job.model_version).toBeNull();
      expect((await api.call(`/v1/jobs/${submitted.job.id}`, { key: customer.keys[mode] })).text).toBe(submitted.text);
      expect(await readJob(api.orm, submitted.job.id)).toMatchObject({ pinnedModelVersion: version });
    },
  );

  it('an installed build is not pinned without the header', async () => {
    const { job } = await read(api, { key: customer.keys.live });
    expect(await readJob(api.orm, job.id)).toMatchObject({ pinnedModelVersion: null });
  });
});

describe('builds that are not installed', () => {
  it.each([
    { mode: 'live', version: 'model-of-tests@2025-12-31' },
    { mode: 'live', version: FIXTURE_VERSION },
    { mode: 'test', version: MODEL_VERSION },
  ] as const)(
    'the build $version, which is not installed, is refused with a $mode key before anything is held',
    async ({ mode, version }) => {
      const refused = await expectRefusal(api, () => send(customer.keys[mode], version), {
        code: 'model_version_not_installed',
        param: 'Model-Version',
      });
      expect(refused.error.message).toContain(mode === 'live' ? MODEL_VERSION : FIXTURE_VERSION);
    },
  );

  it('the refusal of a build lists the installed builds: the default, then the newest nine', async () => {
    const otherVersions = [
      ...Array.from({ length: 9 }, (_, day) => `a@2025-12-0${day + 1}`),
      'b@2025-12-05',
      'long@2025-12-31',
    ];
    const installed = { endpoint: 'dashboard.read', modelVersion: MODEL_VERSION, otherVersions };
    await announceInstalledEndpoints(api.orm.em.fork(), [installed], []);
    const { error } = await send(customer.keys.live, 'long@2025-12-30');
    const named = ['long@2025-12-31', 'a@2025-12-09', 'a@2025-12-08', 'a@2025-12-07', 'a@2025-12-06', 'a@2025-12-05'];
    const next = ['b@2025-12-05', 'a@2025-12-04', 'a@2025-12-03'];
    expect(error.message).toBe(
      `dashboard.read runs ${MODEL_VERSION} in live mode. Also installed: ${[...named, ...next].join(', ')} ` +
        'and 2 more, which GET /v1/endpoints lists. Set Model-Version to one of them, or omit the header.',
    );
    const { json } = await api.call('/v1/endpoints', { key: customer.keys.live });
    expect(
      (json.data as object[]).find((each) => 'endpoint' in each && each.endpoint === 'dashboard.read'),
    ).toMatchObject({
      model_version: MODEL_VERSION,
      model_versions: [MODEL_VERSION, ...named, ...next, 'a@2025-12-02', 'a@2025-12-01'],
    });
    const gone = otherVersions.map((modelVersion) => ({ endpoint: 'dashboard.read', modelVersion }));
    await announceInstalledEndpoints(
      api.orm.em.fork(),
      [{ endpoint: 'dashboard.read', modelVersion: MODEL_VERSION }],
      gone,
    );
  });

  it('a dry run also refuses a build that is not installed', async () => {
    await expectRefusal(api, () => send(customer.keys.test, MODEL_VERSION, '?dry_run=true'), {
      code: 'model_version_not_installed',
      param: 'Model-Version',
    });
  });
});

it.each(['', 'latest', 'dashboard-reader', 'dashboard-reader@newest', 'a@2026-01-01, b@2026-01-01', '@2026-01-01'])(
  'Model-Version: %s is not a build',
  async (version) => {
    await expectRefusal(api, () => send(customer.keys.test, version), {
      code: 'parameter_invalid',
      param: 'Model-Version',
    });
  },
);
