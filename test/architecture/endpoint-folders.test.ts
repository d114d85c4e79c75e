/** An endpoint is one folder and one line in the list. */
import { existsSync, globSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { type EndpointContract, FAMILIES } from '../../src/contracts/endpoint-contract.ts';
import { endpointBySlug, endpoints } from '../../src/endpoints/list.ts';
import { endpointPath } from '../../src/endpoints/shared/endpoint-path.ts';
import { PROJECT_DIRECTORY, readSourceFiles } from './source-files.ts';

const ENDPOINTS_DIRECTORY = join(PROJECT_DIRECTORY, 'src/endpoints');
const contracts: readonly EndpointContract[] = endpoints;
/** Scenarios that need no fixture. */
const WITHOUT_FIXTURE = ['model_error', 'input_unreadable', 'slow', 'insufficient_credits'];

it('the list of endpoints contains every folder once, and every slug has a folder', () => {
  const folders = readdirSync(ENDPOINTS_DIRECTORY, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'shared')
    .map((entry) => entry.name);
  const slugs = endpoints.map(({ slug }) => slug);
  expect(folders.toSorted()).toEqual(slugs.toSorted());
  expect(new Set(slugs).size).toBe(slugs.length);
});

it('no two endpoints share a path', () => {
  const paths = contracts.flatMap(({ slug, aliases = [] }) => [slug, ...aliases].map(endpointPath));
  expect(new Set(paths).size).toBe(paths.length);
});

it('an unknown slug is an error, not an endpoint', () => {
  expect(() => endpointBySlug('unknown')).toThrow(/unknown/);
});

describe.each(endpoints.map((endpoint) => ({ slug: endpoint.slug, endpoint })))('$slug', ({ slug, endpoint }) => {
  const folder = join(ENDPOINTS_DIRECTORY, slug);

  it.each(['contract.ts', 'request.ts', 'result.ts', 'fixtures'])('the folder of an endpoint has %s', (name) => {
    expect(existsSync(join(folder, name))).toBe(true);
  });

  it('an endpoint has a pipeline, or is a preview, which live mode refuses until it has one', () => {
    expect(existsSync(join(folder, 'pipeline.ts')) || endpoint.preview).toBe(true);
  });

  it('an endpoint has a fixture for success and one for each scenario with a result, and no others', () => {
    const names = globSync('*.json', { cwd: join(folder, 'fixtures') }).map((name) => name.replace(/\.json$/, ''));
    const fixtures = names.filter((name) => !name.endsWith('.outcome'));
    const wanted = ['default', ...Object.keys(endpoint.scenarios).filter((name) => !WITHOUT_FIXTURE.includes(name))];
    expect(fixtures.toSorted()).toEqual(wanted.toSorted());
    const ends = names.filter((name) => !fixtures.includes(name)).map((name) => name.replace(/\.outcome$/, ''));
    expect(ends.filter((name) => !wanted.includes(name))).toEqual([]);
  });

  it('an endpoint states a closed request and a result, both valid JSON Schema', () => {
    const ajv = new Ajv2020({ strict: true });
    addFormats.default(ajv);
    expect(() => ajv.compile(endpoint.parameters)).not.toThrow();
    expect(() => ajv.compile(endpoint.result)).not.toThrow();
    expect(endpoint.parameters).toMatchObject({ additionalProperties: false });
  });

  it('an endpoint states plausible figures', () => {
    expect(FAMILIES).toContain(endpoint.family);
    expect(Number.isInteger(endpoint.priceCredits) && endpoint.priceCredits >= 0).toBe(true);
    expect(endpoint.rateLimitPerMinute).toBeGreaterThanOrEqual(4);
    expect(endpoint.expiryMs).toBeGreaterThan(0);
    expect(endpoint.inferenceTimeoutMs).toBeGreaterThan(10_000);
    expect(endpoint.files.minimum).toBeLessThanOrEqual(endpoint.files.maximum);
    for (const description of [endpoint.description, ...Object.values(endpoint.scenarios)]) {
      expect(description).toMatch(/\.$/);
    }
  });
});

it('an endpoint is named only in its folder and in the list', () => {
  const mentions = readSourceFiles('src/**/*.ts')
    // The command line's examples name endpoints as a user does; the client's file fields are generated from the endpoints.
    .filter(({ path }) => !/^src\/(?:endpoints|embedded|cli)\/|^src\/client\/file-fields\.ts$/.test(path))
    .filter(({ text }) => endpoints.some(({ slug }) => new RegExp(`'${slug.replace('.', '\\.')}'`).test(text)))
    .map(({ path }) => path);
  expect(mentions).toEqual([]);
});
