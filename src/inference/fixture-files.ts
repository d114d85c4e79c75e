/** Reads an endpoint's fixtures: `<scenario>.json` with the result, and files beside it that the result shows. */

import { readFile } from 'node:fs/promises';
import { ARTEFACT_MEDIA_TYPES } from '../contracts/media-limits.ts';
import { ServiceError } from '../domain/service-error.ts';
import { type FixtureArtefact, fillArtefacts, readFixture as readJson } from '../endpoints/fixture-placeholders.ts';
import type { WriteArtefact } from './artefacts.ts';
import { fixtureUrl } from './endpoint-folder.ts';
import type { FixtureEnd } from './fixture-end.ts';

/** The result of a scenario, its files not yet stored. Read anew each time: an edited fixture answers at once. */
export async function readFixture(endpointsDirectory: URL, endpoint: string, scenario: string): Promise<unknown> {
  try {
    return await readJson(endpointsDirectory, endpoint, scenario);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new ServiceError('model_unavailable', `The test scenario ${scenario} of ${endpoint} has no fixture.`, {
      cause,
    });
  }
}

/** Stores the files that a result shows, and links them. */
export function storeFixtureFiles(result: unknown, writeArtefact: WriteArtefact): Promise<unknown> {
  return fillArtefacts(result, (artefact) => storeArtefact(artefact, writeArtefact));
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

async function storeArtefact({ file, width, height }: FixtureArtefact, writeArtefact: WriteArtefact) {
  const extension = file.slice(file.lastIndexOf('.') + 1);
  const mediaType = ARTEFACT_MEDIA_TYPES[extension];
  if (!mediaType) throw new Error(`the fixture file ${file} has no known media type`);
  return writeArtefact({ content: await readFile(new URL(file)), mediaType, extension, width, height });
}
