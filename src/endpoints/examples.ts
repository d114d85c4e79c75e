/** What an endpoint is asked and answers in the reference: its example parameters and its default fixture. */
import { existsSync, globSync, statSync } from 'node:fs';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';
import type { JobInput } from '../contracts/job.ts';
import { ARTEFACT_MEDIA_TYPES } from '../contracts/media-limits.ts';
import { type FixtureArtefact, fillArtefacts, readFixture } from './fixture-placeholders.ts';
import { endpoints } from './list.ts';

export interface ExampleRequest {
  parameters: Readonly<Record<string, unknown>>;
  files: readonly JobInput[];
}

type ApplyParameters = (
  result: unknown,
  parameters: ExampleRequest['parameters'],
  inputs: readonly JobInput[],
) => unknown;

const FOLDER = new URL('./', import.meta.url);
const ARTEFACT_ID = 'art_1CoTsd5kMvWzrNbUoFgrYp';
const EXPIRES_AT = 1_797_846_871;
const SIGNATURE = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/**
 * The first of the `examples` of the parameters' schema, with the pictures that the default fixture is true of. Where the
 * folder has none or too few of them, with as few files as the endpoint takes.
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

/** What test mode answers to the example request; undefined for an endpoint without a folder. */
export function exampleResult(slug: string): unknown {
  return results.get(slug);
}

const results = new Map<string, unknown>();
for (const endpoint of endpoints) results.set(endpoint.slug, await makeResult(endpoint));

async function makeResult(endpoint: EndpointContract): Promise<unknown> {
  const fixture = await readFixture(FOLDER, endpoint.slug, 'default');
  return fillArtefacts(await applyParameters(endpoint, fixture), exampleArtefact);
}

async function applyParameters(endpoint: EndpointContract, fixture: unknown): Promise<unknown> {
  const module = new URL(`${endpoint.slug}/apply-parameters.ts`, FOLDER);
  if (!existsSync(module)) return fixture;
  const { applyParameters: apply } = (await import(module.href)) as { applyParameters: ApplyParameters };
  const { parameters, files } = exampleRequest(endpoint);
  return apply(fixture, parameters, files);
}

function exampleArtefact({ file, width, height }: FixtureArtefact) {
  const extension = file.slice(file.lastIndexOf('.') + 1);
  return {
    id: ARTEFACT_ID,
    object: 'artefact',
    media_type: ARTEFACT_MEDIA_TYPES[extension],
    bytes: statSync(new URL(file)).size,
    width,
    height,
    url: `https://api.example.com/v1/artefacts/${ARTEFACT_ID}.${extension}?expires=${EXPIRES_AT}&signature=${SIGNATURE}`,
    expires_at: EXPIRES_AT,
  };
}
