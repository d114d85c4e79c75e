/** The example request and result of each endpoint in the reference: its example parameters and its default fixture. */
import { globSync, statSync } from 'node:fs';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { JobInput } from '../../contracts/job.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../contracts/media-limits.ts';
import { applyParametersUrl, importOptional, referencesUrl } from '../../inference/toolkit/endpoint-folder.ts';
import { endpoints } from '../list.ts';
import { type FixtureArtefact, fillArtefacts, readFixture } from './fixture-placeholders.ts';
import type { ReadResult } from './found-damages.ts';

export interface ExampleRequest {
  parameters: Readonly<Record<string, unknown>>;
  files: readonly JobInput[];
}

type WithReferences = (
  parameters: ExampleRequest['parameters'],
  readResult: ReadResult,
) => Promise<ExampleRequest['parameters']>;

type ApplyParameters = (
  result: unknown,
  parameters: ExampleRequest['parameters'],
  inputs: readonly JobInput[],
) => unknown;

const FOLDER = new URL('../', import.meta.url);
const ARTEFACT_ID = 'art_1CoTsd5kMvWzrNbUoFgrYp';
const EXPIRES_AT = 1_797_846_871;
const SIGNATURE = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/**
 * The first of the `examples` of the parameters' schema, with the example pictures of the default fixture. If the folder has
 * too few, with the fewest files that the endpoint accepts.
 */
export function exampleRequest(endpoint: EndpointContract): ExampleRequest {
  const { examples: [parameters = {}] = [] } = endpoint.parameters as { examples?: ExampleRequest['parameters'][] };
  const { field, minimum, maximum, mediaTypes } = endpoint.files;
  const file = { field, storageKey: '', mediaType: mediaTypes[0] ?? '', bytes: 0, sha256: '', uploadId: null };
  const pictures = globSync(`${endpoint.slug}/fixtures/example*.jpg`, { cwd: FOLDER }).length;
  const files = Array.from({ length: Math.max(minimum, Math.min(pictures, maximum)) }, () => file);
  while (files.length < maximum && endpoint.refine?.({ parameters, files })) files.push(file);
  return { parameters, files };
}

/** The result of the example request in test mode; undefined for an endpoint without a folder. */
export function exampleResult(slug: string): unknown {
  return results.get(slug);
}

/** The file of the fixtures that an artefact of an `exampleResult` stands for. */
export function exampleFile(artefact: object): URL | undefined {
  return filesOfArtefacts.get(artefact);
}

/** Reads the jobs that the example request names: each is an example of the first endpoint that the parameter accepts. */
export function exampleJobReader({ slug, jobReferences = [] }: EndpointContract): ReadResult {
  return async (jobId) => {
    const { parameters } = exampleRequest(contractOf(slug));
    const reference = jobReferences.find(({ parameter }) => parameters[parameter] === jobId);
    const [producer] = reference?.endpoints ?? [];
    return producer === undefined ? null : resultOf(producer);
  };
}

const contracts: ReadonlyMap<string, EndpointContract> = new Map(
  endpoints.map((endpoint) => [endpoint.slug, endpoint]),
);
const pending = new Map<string, Promise<unknown>>();
const filesOfArtefacts = new WeakMap<object, URL>();
const results = new Map<string, unknown>();
for (const { slug } of endpoints) results.set(slug, await resultOf(slug));

function contractOf(slug: string): EndpointContract {
  const contract = contracts.get(slug);
  if (!contract) throw new Error(`${slug} is not an endpoint`);
  return contract;
}

/** Once for each endpoint: one may build on the example of another. */
function resultOf(slug: string): Promise<unknown> {
  const made = pending.get(slug) ?? makeResult(contractOf(slug));
  pending.set(slug, made);
  return made;
}

async function makeResult(endpoint: EndpointContract): Promise<unknown> {
  const fixture = await readFixture(FOLDER, endpoint.slug, 'default');
  return fillArtefacts(await applyParameters(endpoint, fixture), exampleArtefact);
}

async function applyParameters(endpoint: EndpointContract, fixture: unknown): Promise<unknown> {
  const { applyParameters: apply } = await importOptional<{ applyParameters: ApplyParameters }>(
    applyParametersUrl(FOLDER, endpoint.slug),
  );
  if (!apply) return fixture;
  const { withReferences } = await importOptional<{ withReferences: WithReferences }>(
    referencesUrl(FOLDER, endpoint.slug),
  );
  const { parameters, files } = exampleRequest(endpoint);
  return apply(fixture, (await withReferences?.(parameters, exampleJobReader(endpoint))) ?? parameters, files);
}

function exampleArtefact({ file, width, height }: FixtureArtefact) {
  const extension = file.slice(file.lastIndexOf('.') + 1);
  const artefact = {
    id: ARTEFACT_ID,
    object: 'artefact',
    media_type: ARTEFACT_MEDIA_TYPES[extension],
    bytes: statSync(new URL(file)).size,
    width,
    height,
    url: `https://api.example.com/v1/artefacts/${ARTEFACT_ID}.${extension}?expires=${EXPIRES_AT}&signature=${SIGNATURE}`,
    expires_at: EXPIRES_AT,
  };
  filesOfArtefacts.set(artefact, new URL(file));
  return artefact;
}
