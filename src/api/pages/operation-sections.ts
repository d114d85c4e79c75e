/** The parts of a page that describe one operation of the OpenAPI document: request, responses and errors. */
import { RESPONSE_CODES } from '../openapi/error-surfaces.ts';
import { type JsonSchema, renderFields, renderRows, typeOf } from './fields.ts';
import { breakable, escapeHtml, renderMarkdown } from './markdown.ts';

interface Content {
  schema?: JsonSchema;
  example?: unknown;
  examples?: Readonly<Record<string, { summary?: string; value: unknown }>>;
}

export interface ResponseObject {
  $ref?: string;
  description?: string;
  content?: Readonly<Record<string, Content>>;
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: readonly string[];
  security?: readonly Readonly<Record<string, unknown>>[];
  parameters?: readonly { name: string; in: string; required?: boolean; schema?: JsonSchema; description?: string }[];
  requestBody?: { content: Readonly<Record<string, Content>> };
  responses: Readonly<Record<string, ResponseObject>>;
}

export const renderDescription = (text: string) => renderMarkdown(text, (target) => target);

/** Parameters of the path, the query and the headers. */
export function renderParameters({ parameters = [] }: Operation, without: readonly string[] = []): string {
  const places = [
    ['path', 'In the path'],
    ['query', 'In the query'],
    ['header', 'Headers'],
  ] as const;
  return places
    .map(([place, title]) => {
      const rows = parameters
        .filter((parameter) => parameter.in === place && !without.includes(parameter.name))
        .map(({ name, required = false, schema = {}, description }) => ({
          name,
          isRequired: required,
          schema: description === undefined ? schema : { ...schema, description },
        }));
      return rows.length === 0 ? '' : `<h3>${title}</h3>\n${renderRows(rows, title)}`;
    })
    .join('');
}

export function renderRequestBody({ requestBody }: Operation): string {
  const contents = Object.entries(requestBody?.content ?? {});
  return contents
    .map(([mediaType, { schema, example }]) => {
      const fields = schema ? renderFields(schema, `Fields of ${mediaType}`) : '';
      return `<h3><code>${mediaType}</code></h3>\n${fields}${example === undefined ? '' : renderJson(example)}`;
    })
    .join('');
}

/** Responses that are no errors. */
export function renderResponses({ responses }: Operation): string {
  return Object.entries(responses)
    .filter(([, response]) => response.$ref === undefined)
    .map(([status, { description = '', content = {} }]) => {
      const bodies = Object.entries(content).map(([mediaType, { schema, example, examples = {} }]) => {
        const named = Object.entries(examples).map(
          ([name, { summary, value }]) =>
            `<details><summary>${escapeHtml(summary ?? name)}</summary>${renderJson(value)}</details>\n`,
        );
        const kind = schema && Object.keys(schema).length > 0 && !schema.properties ? `: ${typeOf(schema)}` : '';
        return (
          `<p><code>${escapeHtml(mediaType)}</code>${kind}</p>\n` +
          (schema ? renderFields(schema, `Fields of the response ${status}`) : '') +
          named.join('') +
          (example === undefined ? '' : renderJson(example))
        );
      });
      return `<h3 id="response-${status}">${status}</h3>\n${renderDescription(description)}${bodies.join('')}`;
    })
    .join('');
}

/** Each status with the codes that it can carry. */
export function renderErrors({ responses }: Operation): string {
  const rows = Object.entries(responses).flatMap(([status, { $ref = '' }]) => {
    const codes = RESPONSE_CODES[$ref.slice($ref.lastIndexOf('/') + 1)];
    if (!codes) return [];
    const links = codes.map((code) => `<a href="/docs/errors/${code}"><code>${breakable(code)}</code></a>`);
    return [`<tr><th scope="row">${status}</th><td>${links.join(', ')}</td></tr>`];
  });
  return (
    '<div class="table" tabindex="0" role="region" aria-label="Errors"><table><thead><tr><th scope="col">Status</th>' +
    `<th scope="col">Codes</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div>\n`
  );
}

export function renderJson(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return `<pre><code class="language-json">${escapeHtml(text)}</code></pre>\n`;
}
