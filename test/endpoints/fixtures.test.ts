/** Guarantees for every endpoint in the list. */
import { expect, test } from 'vitest';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import type { JobInput } from '../../src/contracts/job.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { createFixtureBackend } from '../../src/inference/backends/fixture-backend.ts';
import { readFixtureOutcome } from '../../src/inference/backends/fixture-files.ts';
import { standInArtefacts } from '../inference/support/tiny-endpoint.ts';
import { inferWhole } from '../support/bundles.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);
const fixture = createFixtureBackend({
  logger: log,
  endpoints,
  endpointsDirectory,
  writeArtefact: standInArtefacts,
  slowScenarioMs: 1,
});

/** Refused at admission, before any backend. */
const WITHOUT_JOB = 'insufficient_credits';

/** The error of each scenario in which the job fails. */
const FAILURES: Readonly<Record<string, string>> = {
  model_error: 'model_inference_failed',
  input_unreadable: 'input_unreadable',
};

const cases = endpoints.flatMap((endpoint) =>
  [null, ...Object.keys(endpoint.scenarios)]
    .filter((scenario) => scenario !== WITHOUT_JOB)
    .map((scenario) => ({ slug: endpoint.slug, scenario, endpoint })),
);

test.each(cases)('$slug returns a valid result for the scenario $scenario', async ({ endpoint, scenario }) => {
  const outcome = await infer(endpoint, scenario);
  const end = await readFixtureOutcome(endpointsDirectory, endpoint.slug, scenario ?? 'default');
  const error = FAILURES[scenario ?? ''];
  expect(outcome.status).toBe(error ? 'failed' : (end?.status ?? 'succeeded'));
  if (error) expect(outcome).toMatchObject({ error: { code: error }, chargedCredits: 0 });
});

test.each(cases.filter(({ scenario }) => scenario === 'low_confidence'))(
  '$slug keeps every confidence of low_confidence below 0.5, with at least one',
  async ({ endpoint, scenario }) => {
    const confidences = confidencesIn((await infer(endpoint, scenario)).result);
    expect(confidences.length).toBeGreaterThan(0);
    expect(Math.max(...confidences)).toBeLessThan(0.5);
  },
);

test.each(cases.filter(({ scenario }) => scenario === 'empty_result'))(
  '$slug detects nothing in empty_result: no confidence and only empty lists, except of what is missing',
  async ({ endpoint, scenario }) => {
    const { result } = await infer(endpoint, scenario);
    expect(confidencesIn(result, REASONS)).toEqual([]);
    for (const reason of reasonsIn(result)) expect(reason).toMatch(/^no_/);
    expect(listsIn(result).filter((list) => list.length > 0)).toEqual([]);
  },
);

/** Sent to bundles only, which return one outcome per picture. */
const PICTURE: JobInput = {
  field: 'images',
  storageKey: 'picture.jpg',
  mediaType: 'image/jpeg',
  bytes: 1,
  sha256: '',
  uploadId: null,
};

function infer(endpoint: EndpointContract, testScenario: string | null) {
  return inferWhole(fixture, endpoint, {
    jobId: 'job_1',
    endpoint: endpoint.slug,
    livemode: false,
    parameters: {},
    inputs: endpoint.stagePlan ? [PICTURE] : [],
    reservedCredits: 1,
    testScenario,
  });
}

function confidencesIn(value: unknown, except: readonly string[] = []): number[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (except.includes(name)) return [];
    return name === 'confidence' && typeof inner === 'number' ? [inner] : confidencesIn(inner, except);
  });
}

function reasonsIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => (name === 'reason' ? [inner] : reasonsIn(inner)));
}

/** Lists of what stands in the way of a reading. */
const REASONS = ['issues', 'quality_issues'];

/** Lists that mirror the input or name what is missing. */
const NOT_DETECTED = ['images', 'views', 'missing_views', ...REASONS];

function listsIn(value: unknown): unknown[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(Array.isArray(inner) && !NOT_DETECTED.includes(name) ? [inner] : []),
    ...listsIn(inner),
  ]);
}
