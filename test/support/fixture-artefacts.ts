/** The files that fixtures show. */
import { readdirSync, readFileSync } from 'node:fs';
import sharp from 'sharp';

const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);

/** As a fixture names it; it stands for what a result says of the file once it is stored. */
export interface FixtureArtefact {
  object: 'artefact';
  file: string;
  width: number | null;
  height: number | null;
}

const isPicture = ({ file }: FixtureArtefact) => /\.(?:jpg|png|webp)$/.test(file);

/** Everything that any fixture of an endpoint shows. */
export function artefactsOf(slug: string): FixtureArtefact[] {
  const folder = new URL(`${slug}/fixtures/`, endpointsDirectory);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => artefactsIn(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))));
}

/** Pictures whose size is not the one that a fixture states. */
export async function missizedPictures(slug: string): Promise<string[]> {
  const found = await Promise.all(
    artefactsOf(slug)
      .filter(isPicture)
      .map(async ({ file, width, height }) => {
        const size = await sharp(readFixtureFile(slug, file)).metadata();
        return size.width === width && size.height === height ? [] : [file];
      }),
  );
  return found.flat();
}

export function readFixtureFile(slug: string, file: string): Buffer {
  return readFileSync(new URL(`${slug}/fixtures/${file}`, endpointsDirectory));
}

function artefactsIn(value: unknown): FixtureArtefact[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('file' in value) return [value as FixtureArtefact];
  return Object.values(value).flatMap(artefactsIn);
}
