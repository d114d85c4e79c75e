/** Reads an endpoint's fixtures: `<scenario>.json` with the result, and the result's files beside it. */

import { readFile } from 'node:fs/promises';
import type { WriteArtefact } from '../../artefacts/artefact-writer.ts';
import { ARTEFACT_MEDIA_TYPES } from '../../contracts/media-limits.ts';
import {
  type FixtureArtefact,
  fillArtefacts,
  readFixture as readJson,
} from '../../endpoints/shared/fixture-placeholders.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { FixtureOutcome } from '../bundles/fixture-outcome.ts';
import { fixtureUrl } from '../toolkit/endpoint-folder.ts';

/** A scenario's result, its files not yet stored. Read on each call, so that an edited fixture takes effect at once. */
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

/** Stores a result's files and puts artefacts in their place. */
export function storeFixtureFiles(result: unknown, writeArtefact: WriteArtefact): Promise<unknown> {
  return fillArtefacts(result, (artefact) => storeArtefact(artefact, writeArtefact));
}

/** The content of `<scenario>.outcome.json`; null for a scenario that simply succeeds. */
export async function readFixtureOutcome(
  endpointsDirectory: URL,
  endpoint: string,
  scenario: string,
): Promise<FixtureOutcome | null> {
  const text = await readFile(fixtureUrl(endpointsDirectory, endpoint, `${scenario}.outcome`), 'utf8').catch(
    () => null,
  );
  return text === null ? null : (JSON.parse(text) as FixtureOutcome);
}

async function storeArtefact({ file, width, height }: FixtureArtefact, writeArtefact: WriteArtefact) {
  const extension = file.slice(file.lastIndexOf('.') + 1);
  const mediaType = ARTEFACT_MEDIA_TYPES[extension];
  if (!mediaType) throw new Error(`the fixture file ${file} has no known media type`);
  return writeArtefact({ content: await readFile(new URL(file)), mediaType, extension, width, height });
}
