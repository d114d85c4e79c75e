/**
 * Reads fixtures, `<endpoint>/fixtures/<scenario>.json`, and fills what they have placeholders for:
 * `{"object":"artefact","file":"cut-out.webp","width":…,"height":…}` stands for a file beside the fixture, and in the
 * fixture of a bundle `{"fixture":{"endpoint":"plate.read","scenario":"empty_result"}}` for another's.
 */
import { readFile } from 'node:fs/promises';

export interface FixtureArtefact {
  object: 'artefact';
  /** Once the fixture was read: the address of the file. */
  file: string;
  width: number | null;
  height: number | null;
}

interface FixtureReference {
  fixture: { endpoint: string; scenario: string };
}

/** The fixture with those it refers to in place; its artefacts still are placeholders. */
export async function readFixture(endpointsDirectory: URL, endpoint: string, scenario: string): Promise<unknown> {
  const url = new URL(`${endpoint}/fixtures/${scenario}.json`, endpointsDirectory);
  return replaceObjects(JSON.parse(await readFile(url, 'utf8')), (value) => {
    if (isArtefact(value)) return { ...value, file: new URL(value.file, url).href };
    if (isReference(value)) return readFixture(endpointsDirectory, value.fixture.endpoint, value.fixture.scenario);
    return null;
  });
}

/** Puts something in the place of every artefact, one after the other. */
export function fillArtefacts(value: unknown, fill: (artefact: FixtureArtefact) => unknown): Promise<unknown> {
  return replaceObjects(value, (found) => (isArtefact(found) ? fill(found) : null));
}

/** A copy of a value with other things in the place of some of its objects; null keeps one. */
export async function replaceObjects(value: unknown, replacement: (found: object) => unknown): Promise<unknown> {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) items.push(await replaceObjects(item, replacement));
    return items;
  }
  const replaced = replacement(value);
  if (replaced !== null) return replaced;
  const fields: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) fields.push([name, await replaceObjects(field, replacement)]);
  return Object.fromEntries(fields);
}

function isArtefact(value: object): value is FixtureArtefact {
  return 'object' in value && value.object === 'artefact' && 'file' in value;
}

function isReference(value: object): value is FixtureReference {
  return 'fixture' in value;
}
