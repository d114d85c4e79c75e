/** How many rows PostgreSQL reads for a list of jobs by status, in an organisation where nearly all succeeded. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOB_STATUSES, type JobStatus } from '../../src/contracts/job.ts';
import { query } from '../../src/platform/database/orm.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { admit } from '../support/jobs.ts';
import { managing } from '../support/management.ts';
import { type SentStatements, watchStatements } from '../support/rows-read.ts';

const JOBS = 20_000;
const PAGE = 20;

let api: TestApi;
let customer: Customer;
let sent: SentStatements;

beforeAll(async () => {
  sent = watchStatements(() => api.orm);
  api = await startTestApi();
  customer = await createCustomer(api.orm);
  const model = await admit(api.orm, customer);
  // Live copies of a test job. Nearly all succeeded; one of each other status lies far back.
  await query(
    api.orm.em.fork(),
    `insert into jobs
     select copy.* from jobs as model, generate_series(1, ${JOBS}) as n, jsonb_populate_record(model, jsonb_build_object(
       'id', 'job_' || translate(lpad(n::text, 20, '0'), '0123456789', 'ABCDEFGHJK'),
       'livemode', true,
       'status', case n when 10 then 'partial' when 20 then 'failed' when 30 then 'expired' when 40 then 'canceled'
         when 50 then 'processing' when 60 then 'queued' else 'succeeded' end,
       'completed_at', case when n not in (50, 60) then now() end)) as copy
     where model.id = $1`,
    [model],
  );
  await query(api.orm.em.fork(), 'analyze jobs');
});
afterAll(async () => {
  sent.stop();
  await api.close();
});

describe.each(JOB_STATUSES)('the list of jobs that are %s', (status) => {
  const found = Array<JobStatus>(status === 'succeeded' ? PAGE : 1).fill(status);

  it(`an API key that lists ${status} jobs reads few others`, async () => {
    const answer = await readingFew(() =>
      api.call(`/v1/jobs?status=${status}&limit=${PAGE}`, { key: customer.keys.live }),
    );
    expect(statusesOf(answer.json)).toEqual(found);
  });

  it(`a member who lists ${status} jobs reads few others`, async () => {
    const path = `/jobs?status=${status}&livemode=true&limit=${PAGE}`;
    const answer = await readingFew(() => managing(api, customer.organizationId)(path));
    expect(statusesOf(answer.json)).toEqual(found);
  });
});

const statusesOf = ({ data }: Record<string, unknown>) => (data as { status: JobStatus }[]).map((job) => job.status);

async function readingFew<Result>(list: () => Promise<Result>): Promise<Result> {
  const { result, rows } = await sent.rowsRead(list, ['from "jobs" ', 'order by']);
  expect(rows).toBeLessThanOrEqual(3 * PAGE);
  return result;
}
