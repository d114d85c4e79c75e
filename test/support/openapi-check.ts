/** Checks responses against the OpenAPI document. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { buildOpenApi } from '../../src/api/openapi/document.ts';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';

interface Answered {
  method: string;
  path: string;
  status: number;
  contentType: string;
  text: string;
}

/** Returns the violation, or null; also null if the document has no such operation. */
export type OpenApiCheck = (answered: Answered) => string | null;

/** Kept for the files that this process runs after the first: compiling the schemas takes longer than most tests. */
const checks = new WeakMap<readonly EndpointContract[], OpenApiCheck>();

export function createOpenApiCheck(endpoints: readonly EndpointContract[]): OpenApiCheck {
  const check = checks.get(endpoints) ?? compileOpenApiCheck(endpoints);
  checks.set(endpoints, check);
  return check;
}

function compileOpenApiCheck(endpoints: readonly EndpointContract[]): OpenApiCheck {
  const document: OpenApiDocument = JSON.parse(JSON.stringify(buildOpenApi(endpoints, 'https://api.example')));
  // Each shared schema once, and its code as it comes.
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateSchema: false,
    inlineRefs: false,
    code: { optimize: false },
  });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: 'openapi' }, undefined, undefined, false);
  const compiled = new Map<string, ValidateFunction>();
  const operations = Object.entries(document.paths).map(([template, operations]) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    operations,
  }));

  return ({ method, path, status, contentType, text }) => {
    const found = operations.find(({ pattern }) => pattern.test(path));
    const name = method.toLowerCase();
    if (!found || !(name in found.operations)) return null;
    const operation = `${method} ${found.template}`;
    const response = found.operations[name]?.responses[status];
    if (!response) return `${operation} does not document the status ${status}`;
    if (!response.content && !response.$ref) return text === '' ? null : `${operation} ${status} has a body`;
    const mediaType = contentType.replace(/;.*/, '');
    // Event streams and other texts have no schema.
    if (response.content && mediaType in response.content && mediaType !== 'application/json') return null;
    if (mediaType !== 'application/json') return `${operation} ${status} answers ${contentType}`;
    const place = response.$ref?.replace('#/', '').split('/') ?? ['paths', found.template, name, 'responses', status];
    const pointer = [...place, 'content', 'application/json', 'schema']
      .map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1'))
      .join('/');
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#/${encodeURI(pointer)}` });
    compiled.set(pointer, validate);
    const body: unknown = JSON.parse(text);
    if (!validate(body)) return `${operation} ${status}: ${ajv.errorsText(validate.errors)}`;
    const codes = response.$ref && document.components.responses[response.$ref.replace(/.*\//, '')]?.description;
    const { code } = (body as { error?: { code: string } }).error ?? {};
    return !codes || codes.includes(`\`${code}\``) ? null : `${operation} ${status} does not document the code ${code}`;
  };
}

export interface OpenApiDocument {
  openapi: string;
  info: Record<string, string>;
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, unknown>;
    responses: Record<string, { description?: string; headers?: Record<string, object> }>;
    securitySchemes: Record<string, unknown>;
  };
  security: Record<string, unknown>[];
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  /** Empty for public operations; undefined for the document's default. */
  security?: Record<string, unknown>[];
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; schema: object; description?: string }[];
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<
    string,
    {
      $ref?: string;
      description?: string;
      headers?: Record<string, object>;
      content?: Record<string, { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> }>;
    }
  >;
}
