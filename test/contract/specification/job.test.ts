/** The specification's table of the Job, on its schema. */
import { describe, expect, it } from 'vitest';
import type { EndpointContract } from '../../../src/contracts/endpoint-contract.ts';
import { endpoints as list } from '../../../src/endpoints/list.ts';
import { documentOf } from '../service.ts';
import { ENDPOINT_SLUGS } from './endpoint-slugs.ts';
import { type Field, schemasOf } from './fields.ts';

const STATUSES = ['queued', 'processing', 'succeeded', 'partial', 'failed', 'expired', 'canceled'];

const JOB_FIELDS: readonly Field[] = [
  { field: 'id', types: ['string'], pattern: '^job_[1-9A-HJ-NP-Za-km-z]{8,32}$' },
  { field: 'object', types: ['string'], values: ['job'] },
  { field: 'endpoint', types: ['string'], values: ENDPOINT_SLUGS },
  { field: 'status', types: ['string'], values: STATUSES },
  { field: 'livemode', types: ['boolean'] },
  { field: 'is_staging', types: ['boolean'] },
  { field: 'created', types: ['integer'] },
  { field: 'started_at', types: ['integer', 'null'] },
  { field: 'completed_at', types: ['integer', 'null'] },
  { field: 'model_version', types: ['string', 'null'] },
  { field: 'credits', types: ['object'] },
  { field: 'credits.reserved', types: ['integer'] },
  { field: 'credits.charged', types: ['integer'] },
  { field: 'result', types: ['object', 'null'] },
  { field: 'error', types: ['object', 'null'] },
  { field: 'error.type', types: ['string'] },
  { field: 'error.code', types: ['string'] },
  { field: 'error.message', types: ['string'] },
  { field: 'stages', types: ['array'], optional: true },
  { field: 'test_scenario', types: ['string'], optional: true },
];

const endpoints: readonly EndpointContract[] = list;
const document = documentOf(endpoints);
const { named, expectField } = schemasOf(document);

describe('Job', () => {
  it.each(JOB_FIELDS)('the field $field of the Job is as specified', (row) => {
    expectField(named('Job'), row);
  });

  it('the Job has no other field than those specified', () => {
    const properties = Object.keys(named('Job').properties as object);
    const names = JOB_FIELDS.map(({ field }) => field).filter((field) => !field.includes('.'));
    expect(properties.toSorted()).toEqual(names.toSorted());
  });

  it.each(ENDPOINT_SLUGS)('the endpoint %s exists, at its path', (slug) => {
    expect(document.paths).toHaveProperty([`/v1/${slug.replaceAll('.', '/')}`, 'post']);
  });

  it('no endpoint exists besides those specified', () => {
    expect(endpoints.map(({ slug }) => slug).toSorted()).toEqual(ENDPOINT_SLUGS.toSorted());
  });

  it('vehicle.analyse is another spelling of the endpoint vehicle.analyze', () => {
    expect(document.paths).toHaveProperty(['/v1/vehicle/analyse', 'post']);
  });

  it('only the endpoint inspections has stages', () => {
    expect(endpoints.filter(({ stages }) => stages).map(({ slug }) => slug)).toEqual(['inspections']);
  });
});
