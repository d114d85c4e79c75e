/** Every list of the management API refuses a cursor that is not an id of the list. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operations } from '../../../src/api/management/operations.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { createCustomer } from '../../support/customers.ts';
import { managing } from '../../support/management.ts';

let api: TestApi;
let manage: ReturnType<typeof managing>;
let endpointId: string;

beforeAll(async () => {
  api = await startTestApi({ findWebhookUrlProblem: async () => null });
  const { organizationId } = await createCustomer(api.orm);
  manage = managing(api, organizationId);
  const made = await manage('/webhook-endpoints', {
    body: { url: 'https://hooks.example.com/jobs', livemode: false, events: ['job.succeeded'] },
  });
  expect(made.status).toBe(201);
  endpointId = String(made.json.id);
});
afterAll(() => api.close());

const lists = operations.filter(({ query }) => query && 'starting_after' in query.properties);

it.each(lists.map(({ path }) => path))('%s refuses a malformed cursor', async (template) => {
  const path = template.replace('/mgmt/v1', '').replace('{id}', endpointId);
  for (const param of ['starting_after', 'ending_before']) {
    for (const cursor of ['foo', '', 'upl_1CoTsd5kMvWzrNbUoFgrYo']) {
      const answer = await manage(`${path}?${param}=${cursor}`);
      expect(answer.error).toMatchObject({ code: 'parameter_invalid', param });
    }
  }
});
