/** Encodes the parameters and files of a request. */
import type { RequestBody } from './http.ts';
import type { FileSource } from './types.ts';

/** A request with files is sent as multipart, any other as JSON. */
export function encodeInput(input: object): { body: RequestBody; headers: Record<string, string> } {
  const fields = Object.entries(input).filter(([, value]) => value !== undefined) as [string, unknown][];
  if (!fields.some(([, value]) => filesIn(value).length > 0)) {
    return { body: JSON.stringify(Object.fromEntries(fields)), headers: { 'Content-Type': 'application/json' } };
  }
  const form = new FormData();
  for (const [name, value] of fields) {
    const files = filesIn(value);
    for (const file of files) form.append(name, file instanceof Blob ? file : new Blob([file]), name);
    if (files.length === 0) for (const text of textsOf(value)) form.append(name, text);
  }
  return { body: form, headers: {} };
}

/** Strings are sent unchanged, lists of strings as repeated parts, anything else as JSON. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  return [JSON.stringify(value)];
}

function filesIn(value: unknown): FileSource[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((item): item is FileSource => item instanceof Blob || item instanceof Uint8Array);
}
