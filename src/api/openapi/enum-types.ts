/** Members that hold arbitrary values, not schemas. */
const NO_SCHEMAS = ['example', 'examples', 'default', 'const'];

/**
 * Adds `type: string` to every enum of strings. Validation does not need it, but readers and client generators treat an
 * untyped enum as "any".
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
