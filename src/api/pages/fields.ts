/** Fields of a JSON schema as a table: one row for each field, with dotted names for what is inside objects and lists. */
import { endpoints } from '../../endpoints/list.ts';
import { breakable, escapeHtml, renderInline } from './markdown.ts';

export interface JsonSchema {
  $ref?: string;
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly JsonSchema[];
  allOf?: readonly JsonSchema[];
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  items?: JsonSchema;
  additionalProperties?: boolean | JsonSchema;
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  contentMediaType?: string;
}

interface Row {
  name: string;
  schema: JsonSchema;
  isRequired: boolean;
}

/** What a bundle contains: described once, on the page of its endpoint. */
const RESULTS: ReadonlyMap<unknown, string> = new Map(endpoints.map(({ slug, result }) => [result, slug]));

/** More values than this are folded. */
const SHOWN_VALUES = 12;

/** A table of the fields of an object; empty for a schema without fields. */
export function renderFields(schema: JsonSchema, caption: string): string {
  return renderRows(rowsOf(schema, ''), caption);
}

/** A table of named values, such as the parameters of a request. */
export function renderRows(rows: readonly Row[], caption: string): string {
  if (rows.length === 0) return '';
  const lines = rows.map(
    ({ name, schema, isRequired }) =>
      `<tr><th scope="row"><code>${breakable(name)}</code>${isRequired ? ' <span class="required">required</span>' : ''}</th>` +
      `<td>${typeOf(schema)}${boundsOf(schema)}</td><td>${renderInline(schema.description ?? '')}</td></tr>`,
  );
  return (
    `<div class="table fields" tabindex="0" role="region" aria-label="${escapeHtml(caption)}"><table>` +
    `<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead>` +
    `<tbody>${lines.join('\n')}</tbody></table></div>\n`
  );
}

/** The fields of an object, and of what is inside it, unless that has a page of its own. */
function rowsOf(schema: JsonSchema, prefix: string): Row[] {
  const parts = [schema, ...(schema.allOf ?? []), ...(schema.anyOf ?? [])];
  return parts.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, child]) => [
      { name: prefix + name, schema: child, isRequired: required.includes(name) },
      ...rowsInside(child, prefix + name),
    ]),
  );
}

function rowsInside(schema: JsonSchema, name: string): Row[] {
  const alternatives = [schema, ...(schema.anyOf ?? [])].filter((alternative) => !RESULTS.has(alternative));
  return alternatives.flatMap((alternative) => [
    ...(alternative.properties ? rowsOf({ properties: alternative.properties, required: [] }, `${name}.`) : []),
    ...(alternative.items ? rowsInside(alternative.items, `${name}[]`) : []),
  ]);
}

/** HTML. */
export function typeOf(schema: JsonSchema): string {
  if (schema.$ref) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
    return `<a href="${schemaPath(name)}">${escapeHtml(name)}</a>`;
  }
  const slug = RESULTS.get(schema);
  if (slug !== undefined) return `<a href="/docs/endpoints/${slug}#result">result of ${slug}</a>`;
  if (schema.const !== undefined) return `<code>${breakable(JSON.stringify(schema.const))}</code>`;
  if (schema.enum) return valuesOf(schema.enum);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' with ');
  if (schema.type === 'array') return `list of ${schema.items ? typeOf(schema.items) : 'anything'}`;
  if (schema.contentMediaType) return 'file';
  return schema.type === undefined ? 'anything' : [schema.type].flat().join(' or ');
}

function valuesOf(values: readonly unknown[]): string {
  const listed = values.map((value) => `<code>${breakable(String(value))}</code>`).join(', ');
  if (values.length <= SHOWN_VALUES) return listed;
  return `<details><summary>one of ${values.length} values</summary>${listed}</details>`;
}

function boundsOf(schema: JsonSchema): string {
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, minItems, maxItems } = schema;
  const range = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
    if (least !== undefined) return `at least ${least}${unit}`;
    return most === undefined ? null : `at most ${most}${unit}`;
  };
  const bounds = [
    range(minimum, maximum, ''),
    exclusiveMinimum === undefined ? null : `more than ${exclusiveMinimum}`,
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
    schema.default === undefined
      ? null
      : `default <code>${escapeHtml(JSON.stringify(schema.default)).replaceAll(',', ', ')}</code>`,
  ].filter((bound) => bound !== null);
  return bounds.length === 0 ? '' : `<br><small>${bounds.join('; ')}</small>`;
}

/** Results are described on the page of their endpoint. */
export function schemaPath(name: string): string {
  const slug = /^(.*)\.result$/.exec(name)?.[1];
  return slug === undefined ? `/docs/reference/objects/${name}` : `/docs/endpoints/${slug}#result`;
}
