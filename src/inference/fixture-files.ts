/** Reads an endpoint's fixtures: `<scenario>.json` with the result, and files beside it that the result shows. */

import { readFile } from 'node:fs/promises';
import { ARTEFACT_MEDIA_TYPES } from '../contracts/media-limits.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { WriteArtefact } from './artefacts.ts';
import { fixtureUrl } from './endpoint-folder.ts';
import type { FixtureEnd } from './fixture-end.ts';

/** In a fixture, `{"object":"artefact","file":"cut-out.webp","width":…,"height":…}` stands for a file beside it. */
interface FixtureArtefact {
  object: 'artefact';
  file: string;
  width: number | null;
  height: number | null;
}

/** In a fixture of a bundle, `{"fixture":{"endpoint":"plate.read","scenario":"empty_result"}}` stands for another's. */
interface FixtureReference {
  fixture: { endpoint: string; scenario: string };
}

/** The result of a scenario, its artefacts stored and linked. Read anew each time: an edited fixture answers at once. */
export async function readFixture(
  endpointsDirectory: URL,
  endpoint: string,
  scenario: string,
  writeArtefact: WriteArtefact,
): Promise<unknown> {
  const url = fixtureUrl(endpointsDirectory, endpoint, scenario);
  const text = await readFile(url, 'utf8').catch((cause: unknown) => {
    throw new ServiceError('model_unavailable', `The test scenario ${scenario} of ${endpoint} has no fixture.`, {
      cause,
    });
  });
  return complete(JSON.parse(text), { base: url, endpointsDirectory, writeArtefact });
}

/** What `<scenario>.outcome.json` says; null where the scenario simply succeeds. */
export async function readFixtureEnd(
  endpointsDirectory: URL,
  endpoint: string,
  scenario: string,
): Promise<FixtureEnd | null> {
  const text = await readFile(fixtureUrl(endpointsDirectory, endpoint, `${scenario}.outcome`), 'utf8').catch(
    () => null,
  );
  return text === null ? null : (JSON.parse(text) as FixtureEnd);
}

interface Place {
  /** Files of artefacts lie beside it. */
  base: URL;
  endpointsDirectory: URL;
  writeArtefact: WriteArtefact;
}

async function complete(value: unknown, place: Place): Promise<unknown> {
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(await complete(item, place));
    return items;
  }
  if (value === null || typeof value !== 'object') return value;
  if (isFixtureArtefact(value)) return storeArtefact(value, place);
  if (isFixtureReference(value)) {
    const { endpoint, scenario } = value.fixture;
    return readFixture(place.endpointsDirectory, endpoint, scenario, place.writeArtefact);
  }
  const fields: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) fields.push([name, await complete(field, place)]);
  return Object.fromEntries(fields);
}

function isFixtureArtefact(value: object): value is FixtureArtefact {
  return 'object' in value && value.object === 'artefact' && 'file' in value;
}

function isFixtureReference(value: object): value is FixtureReference {
  return 'fixture' in value;
}

async function storeArtefact({ file, width, height }: FixtureArtefact, { base, writeArtefact }: Place) {
  const extension = file.slice(file.lastIndexOf('.') + 1);
  const mediaType = ARTEFACT_MEDIA_TYPES[extension];
  if (!mediaType) throw new Error(`the fixture file ${file} has no known media type`);
  return writeArtefact({ content: await readFile(new URL(file, base)), mediaType, extension, width, height });
}
