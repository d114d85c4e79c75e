/** The reference: every operation of the OpenAPI document, and the objects that they share. */
import { type JsonSchema, renderFields, schemaPath } from './fields.ts';
import { breakable, escapeHtml } from './markdown.ts';
import {
  type Operation,
  renderDescription,
  renderErrors,
  renderParameters,
  renderRequestBody,
  renderResponses,
} from './operation-sections.ts';

export interface OpenApi {
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  components: { schemas: Readonly<Record<string, JsonSchema>> };
}

export interface Described {
  method: string;
  path: string;
  operation: Operation;
}

export function operationsOf({ paths }: OpenApi): Described[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Schemas with a page of their own. Results are on the page of their endpoint. */
export const objectNames = ({ components }: OpenApi) =>
  Object.keys(components.schemas).filter((name) => schemaPath(name).startsWith('/docs/reference/'));

export function renderReferenceIndex(document: OpenApi, pathOf: (described: Described) => string): string {
  const operations = operationsOf(document);
  const groups = document.tags.map(({ name, description }) => {
    // An endpoint of two spellings has two operations and one page.
    const byPage = Map.groupBy(
      operations.filter(({ operation }) => operation.tags.includes(name)),
      pathOf,
    );
    const rows = [...byPage].map(([page, described]) => {
      const calls = described.map(({ method, path }) => `<code>${method} ${breakable(path)}</code>`);
      const summary = escapeHtml(described[0]?.operation.summary ?? '');
      return `<li><a href="${page}">${summary}</a> ${calls.join(' or ')}</li>\n`;
    });
    const title = name.charAt(0).toUpperCase() + name.slice(1);
    return `<h2 id="${name.toLowerCase().replaceAll(' ', '-')}">${title}</h2>\n${renderDescription(description)}<ul class="operations">\n${rows.join('')}</ul>\n`;
  });
  const objects = objectNames(document).map((name) => `<li><a href="${schemaPath(name)}">${name}</a></li>\n`);
  return (
    '<h1>Reference</h1>\n<p>Every operation, with its fields, examples and errors. The same as a document for programs: ' +
    '<a href="/openapi.json">openapi.json</a>.</p>\n' +
    `${groups.join('')}<h2 id="objects">Objects</h2>\n<ul>\n${objects.join('')}</ul>\n`
  );
}

export function renderOperationPage({ method, path, operation }: Described): string {
  const parameters = renderParameters(operation);
  const body = renderRequestBody(operation);
  return [
    `<h1>${escapeHtml(operation.summary)}</h1>\n<p class="operation"><code>${method} ${breakable(path)}</code></p>\n`,
    renderDescription(operation.description ?? ''),
    `<p>${callerOf(operation)} ${clientsOf(path, operation)}</p>\n`,
    `<h2 id="request">Request</h2>\n${parameters}${body}`,
    `<h2 id="response">Response</h2>\n${renderResponses(operation)}`,
    `<h2 id="errors">Errors</h2>\n${renderErrors(operation)}`,
  ].join('');
}

function callerOf({ security }: Operation): string {
  if (security === undefined) return 'With an <a href="/docs/api-keys">API key</a>.';
  if (security.length === 0) return 'Without a key: the link is signed, or the answer public.';
  return 'With a <a href="/docs/management#a-token">token</a> of a member.';
}

/** The methods of the management client are generated under the names of the operations. */
function clientsOf(path: string, { operationId }: Operation): string {
  if (!path.startsWith('/mgmt/')) return 'Both <a href="/docs/client">clients</a> have a method for it.';
  return `In the <a href="/docs/client">clients</a>: <code>${operationId}</code> in TypeScript, <code>${snakeCase(operationId)}</code> in Python.`;
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function renderObjectPage(name: string, { components }: OpenApi): string {
  const schema = components.schemas[name] ?? {};
  return `<h1>${name}</h1>\n${renderDescription(schema.description ?? '')}${renderFields(schema, `Fields of ${name}`)}`;
}
