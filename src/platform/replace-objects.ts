/** Copies a value and replaces some of its objects; a null replacement keeps the object. Bytes stay the same ones. */
export async function replaceObjects(value: unknown, replacement: (found: object) => unknown): Promise<unknown> {
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
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
