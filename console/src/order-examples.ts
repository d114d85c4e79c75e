/** Which of the fixtures' files are the examples of an endpoint, in the order in which its result counts them. */
export function orderedExamples(slug: string, paths: readonly string[]): { path: string; name: string }[] {
  const found = paths.flatMap((path) => {
    const [, of, suffix = '', type] = /\/endpoints\/([^/]+)\/fixtures\/example(-\w+)?\.(\w+)$/.exec(path) ?? [];
    return of === slug ? [{ path, suffix, name: `${slug.replace('.', '-')}${suffix}.${type}` }] : [];
  });
  // The one without a suffix is the first; the others have a number, or a word such as `back`.
  return found
    .sort((a, b) => a.suffix.localeCompare(b.suffix, 'en', { numeric: true }))
    .map(({ path, name }) => ({ path, name }));
}
