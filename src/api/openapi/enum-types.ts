/** Names of members that hold anything, and no schemas. */
const NO_SCHEMAS = ['example', 'examples', 'default', 'const'];

/**
 * The same document, in which every list of texts says that it is of texts: validation needs no `type` beside an `enum`, but
 * readers and generators of clients take one without for anything at all.
 */
export function withEnumTypes<Document>(document: Document): Document {
  if (Array.isArray(document)) return document.map(withEnumTypes) as Document;
  if (typeof document !== 'object' || document === null) return document;
  const members = Object.entries(document).map(([name, value]: [string, unknown]) => [
    name,
    NO_SCHEMAS.includes(name) ? value : withEnumTypes(value),
  ]);
  return { ...(isUntypedEnum(document) && { type: 'string' }), ...Object.fromEntries(members) } as Document;
}

function isUntypedEnum(schema: { enum?: unknown; type?: unknown }): boolean {
  const { enum: values, type } = schema;
  return type === undefined && Array.isArray(values) && values.every((value) => typeof value === 'string');
}
