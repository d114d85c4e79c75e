/** The project's own pictures and films, one set for each endpoint: the fixtures of test mode are about them. */
import { orderedExamples } from './order-examples.ts';

const urls = import.meta.glob<string>('../../src/endpoints/*/fixtures/example*.{jpg,mp4}', {
  query: '?url',
  import: 'default',
  eager: true,
});

export interface Example {
  /** Such as `plate-read.jpg`. */
  name: string;
  url: string;
}

export const examplesOf = (slug: string): Example[] =>
  orderedExamples(slug, Object.keys(urls)).map(({ path, name }) => ({ name, url: urls[path] ?? '' }));

const fetched = new WeakMap<File, string>();

/** As if it had been chosen. */
export async function fetchExample({ name, url }: Example): Promise<File> {
  const content = await (await fetch(url)).blob();
  const file = new File([content], name, { type: content.type });
  fetched.set(file, url);
  return file;
}

/** Where a chosen file comes from; null for a visitor's own. */
export const addressOf = (file: File): string | null => fetched.get(file) ?? null;
