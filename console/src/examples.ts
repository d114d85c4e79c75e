/** The project's own pictures, one set for each endpoint: the fixtures of test mode are about them. */
const urls = import.meta.glob<string>('../../src/endpoints/*/fixtures/example*.jpg', {
  query: '?url',
  import: 'default',
  eager: true,
});

export interface Example {
  /** Such as `plate-read.jpg`. */
  name: string;
  url: string;
}

/** In the order of their numbers. */
export function examplesOf(slug: string): Example[] {
  return Object.entries(urls)
    .filter(([path]) => path.includes(`/endpoints/${slug}/`))
    .sort(([a], [b]) => numberOf(a) - numberOf(b))
    .map(([path, url]) => {
      const number = numberOf(path);
      return { name: `${slug.replace('.', '-')}${number === 1 ? '' : `-${number}`}.jpg`, url };
    });
}

const numberOf = (path: string) => Number(/example-(\d+)/.exec(path)?.[1] ?? 1);

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
