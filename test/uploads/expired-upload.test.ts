/** Requests that name an expired upload. */
import { afterAll, beforeAll, it } from '@jest/globals';
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
])('is refused under the parameter that names it: $param', async ({ param, path, bodyOf }) => {
  const { keys } = await createCustomer(api.orm);
  const id = await upload(api, keys.test);
  await api.orm.em.fork().nativeUpdate(Upload, { id }, { expiresAt: new Date(Date.now() - 1_000) });
  const post = () =>
    api.call(path, {
      method: 'POST',
      key: keys.test,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(bodyOf(id)),
    });
  await expectRefusal(api, post, { code: 'resource_not_found', param });
});
