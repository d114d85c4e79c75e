/** The files that fixtures refer to. */
import { readdirSync, readFileSync } from 'node:fs';
import sharp from 'sharp';

const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);

/** A placeholder in a fixture; the result describes the stored file instead. */
export interface FixtureArtefact {
  object: 'artefact';
  file: string;
  width: number | null;
  height: number | null;
}

const isPicture = ({ file }: FixtureArtefact) => /\.(?:jpg|png|webp)$/.test(file);

/** All files of all fixtures of an endpoint. */
export function artefactsOf(slug: string): FixtureArtefact[] {
  const folder = new URL(`${slug}/fixtures/`, endpointsDirectory);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => artefactsIn(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))));
}

/** Pictures whose size differs from that in the fixture. */
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
