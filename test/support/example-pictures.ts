/** Compares the fixtures of an endpoint with its example picture. */
import { readFileSync } from 'node:fs';
import sharp from 'sharp';

const endpointsDirectory = new URL('../../src/endpoints/', import.meta.url);

/** The result of a scenario, from its file. */
export function fixtureOf<Result>(slug: string, scenario = 'default'): Result {
  return JSON.parse(readFileSync(new URL(`${slug}/fixtures/${scenario}.json`, endpointsDirectory), 'utf8')) as Result;
}

export interface Place {
  x: number;
  y: number;
  width?: number;
  height?: number;
}

/** Boxes and points of the default fixture that are outside the example picture. */
export async function placesOutsideExample(slug: string, file = 'example.jpg'): Promise<Place[]> {
  const picture = await sharp(readFileSync(new URL(`${slug}/fixtures/${file}`, endpointsDirectory))).metadata();
  return placesOutside(fixtureOf(slug), picture);
}

/** Boxes and points in a value that are outside a picture of that size. */
export function placesOutside(value: unknown, picture: { width: number; height: number }): Place[] {
  return placesIn(value).filter(
    ({ x, y, width = 0, height = 0 }) => x < 0 || y < 0 || x + width > picture.width || y + height > picture.height,
  );
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('x' in value && 'y' in value) return [value as Place];
  return Object.values(value).flatMap(placesIn);
}
