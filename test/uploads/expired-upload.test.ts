/** Requests that name an expired upload. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Upload } from '../../src/uploads/entities.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createCustomer } from '../support/customers.ts';
import { expectRefusal, upload } from '../support/requests.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

it.each([
  { param: 'input_ref', path: '/v1/dashboard/read', bodyOf: (id: string) => ({ input_ref: id }) },
  { param: 'input_refs', path: '/v1/vehicle/identify', bodyOf: (id: string) => ({ input_refs: [id] }) },
])(
  'an expired upload is refused by its id, under the parameter that names it, in a dry run too: $param',
  async ({ param, path, bodyOf }) => {
    const { keys } = await createCustomer(api.orm);
    const id = await upload(api, keys.test);
    await api.orm.em.fork().nativeUpdate(Upload, { id }, { expiresAt: new Date(Date.now() - 1_000) });
    const post = (query = '') =>
      api.call(path + query, {
        method: 'POST',
        key: keys.test,
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(bodyOf(id)),
      });
    const { error } = await expectRefusal(api, () => post(), { code: 'resource_not_found', param });
    expect(error.message).toContain(id);
    const dryRun = await expectRefusal(api, () => post('?dry_run=true'), { code: 'resource_not_found', param });
    expect(dryRun.error.message).toBe(error.message);
  },
);
