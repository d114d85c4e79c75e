/**
 * Reads fixtures (`<endpoint>/fixtures/<scenario>.json`) and resolves their placeholders:
 * `{"object":"artefact","file":"cut-out.webp","width":…,"height":…}` is a file beside the fixture, and
 * `{"fixture":{"endpoint":"plate.read","scenario":"empty_result"}}` in the fixture of a bundle is another fixture.
 */
import { readFile } from 'node:fs/promises';
import { replaceObjects } from '../../platform/replace-objects.ts';

export interface FixtureArtefact {
  object: 'artefact';
  /** The file URL, once the fixture has been read. */
  file: string;
  width: number | null;
  height: number | null;
}

interface FixtureReference {
  fixture: { endpoint: string; scenario: string };
}

/** Returns the fixture with its references resolved. Its artefacts are still placeholders. */
export async function readFixture(endpointsDirectory: URL, endpoint: string, scenario: string): Promise<unknown> {
  const url = new URL(`${endpoint}/fixtures/${scenario}.json`, endpointsDirectory);
  return replaceObjects(JSON.parse(await readFile(url, 'utf8')), (value) => {
    if (isArtefact(value)) return { ...value, file: new URL(value.file, url).href };
    if (isReference(value)) return readFixture(endpointsDirectory, value.fixture.endpoint, value.fixture.scenario);
    return null;
  });
}

/** Replaces every artefact placeholder, sequentially. */
export function fillArtefacts(value: unknown, fill: (artefact: FixtureArtefact) => unknown): Promise<unknown> {
  return replaceObjects(value, (found) => (isArtefact(found) ? fill(found) : null));
}

function isArtefact(value: object): value is FixtureArtefact {
  return 'object' in value && value.object === 'artefact' && 'file' in value;
}

function isReference(value: object): value is FixtureReference {
  return 'fixture' in value;
}
