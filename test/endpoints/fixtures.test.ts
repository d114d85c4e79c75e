/** Holds of every endpoint in the list. */
import { expect, test } from '@jest/globals';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import type { JobInput } from '../../src/contracts/job.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { createFixtureBackend } from '../../src/inference/fixture-backend.ts';
import { readFixtureEnd } from '../../src/inference/fixture-files.ts';
import { standInArtefacts } from '../inference/tiny-endpoint.ts';
import { inferWhole } from '../support/in-stages.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);
const fixture = createFixtureBackend({
  logger: log,
  endpoints,
  endpointsDirectory,
  writeArtefact: standInArtefacts,
  slowScenarioMs: 1,
});

/** Refused at admission: no backend sees it. */
const WITHOUT_JOB = 'insufficient_credits';

const cases = endpoints.flatMap((endpoint) =>
  [null, ...Object.keys(endpoint.scenarios)]
    .filter((scenario) => scenario !== WITHOUT_JOB)
    .map((scenario) => ({ slug: endpoint.slug, scenario, endpoint })),
);

test.each(cases)('$slug answers the scenario $scenario as its schema says', async ({ endpoint, scenario }) => {
  const outcome = await infer(endpoint, scenario);
  const end = await readFixtureEnd(endpointsDirectory, endpoint.slug, scenario ?? 'default');
  expect(outcome.status).toBe(scenario === 'model_error' ? 'failed' : (end?.status ?? 'succeeded'));
});

test.each(cases.filter(({ scenario }) => scenario === 'low_confidence'))(
  '$slug is below 0.5 in every confidence of low_confidence, and states one',
  async ({ endpoint, scenario }) => {
    const confidences = confidencesIn((await infer(endpoint, scenario)).result);
    expect(confidences.length).toBeGreaterThan(0);
    expect(Math.max(...confidences)).toBeLessThan(0.5);
  },
);

test.each(cases.filter(({ scenario }) => scenario === 'empty_result'))(
  '$slug detects nothing in empty_result: no confidence, and no list with an item',
  async ({ endpoint, scenario }) => {
    const { result } = await infer(endpoint, scenario);
    expect(confidencesIn(result)).toEqual([]);
    expect(listsIn(result).filter((list) => list.length > 0)).toEqual([]);
  },
);

/** Sent to bundles, which answer each picture; the others are asked without one. */
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

function confidencesIn(value: unknown): number[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'confidence' && typeof inner === 'number' ? [inner] : confidencesIn(inner),
  );
}

/** Lists of what was sent, and of what is not there. */
const NOT_DETECTED = ['images', 'views', 'missing_views'];

function listsIn(value: unknown): unknown[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(Array.isArray(inner) && !NOT_DETECTED.includes(name) ? [inner] : []),
    ...listsIn(inner),
  ]);
}
