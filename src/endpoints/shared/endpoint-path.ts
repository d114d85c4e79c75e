/** `/v1/` + the slug with its dot as a slash. */
export function endpointPath(slug: string): string {
  return `/v1/${slug.replaceAll('.', '/')}`;
}
