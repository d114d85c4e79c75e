/** The operations of the OpenAPI document, as a client offers them. */
import { buildOpenApi } from '../../src/api/openapi/document.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { type Declaration, type Field, pascalCase, type Schema, type Type, TypeCatalog } from './types.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  schema: Schema;
  description?: string;
}

interface OpenApiOperation {
  operationId: string;
  summary: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, Schema> };
}

/** An endpoint: parameters and files that a caller chooses. */
export interface EndpointRequest {
  slug: string;
  path: string;
  /** `DashboardRead` */
  name: string;
  /** `DashboardReadResult` */
  resultName: string;
  summary: string;
  fields: Field[];
}

/** An operation of the management API. */
export interface ManagementOperation {
  operationId: string;
  method: string;
  /** With its parameters in braces. */
  path: string;
  summary: string;
  pathParameters: string[];
  query: Field[];
  body: Field[];
  /** Whether a repetition with the same Idempotency-Key is safe. */
  isIdempotent: boolean;
  /** Null: an empty response. */
  answer: Type | null;
  /** Whether the answer is a page of a list; `answer` is then the type of an item. */
  isPage: boolean;
}

export interface ClientModel {
  declarations: Declaration[];
  requests: EndpointRequest[];
  management: ManagementOperation[];
}

/** Endpoints that are spelled in two ways have one request. */
const OTHER_SPELLINGS = ['vehicle.analyse'];
/** The clients write these by hand. */
const HAND_WRITTEN = ['Job', 'Error'];

export function readDocument(): OpenApiDocument {
  return JSON.parse(JSON.stringify(buildOpenApi(endpoints, 'https://api.example.com')));
}

export function buildClientModel({ paths, components }: OpenApiDocument): ClientModel {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
  const managed = operations.filter(({ path }) => path.startsWith('/mgmt/'));
  const inference = operations.filter(
    ({ operationId }) => endpoints.some(({ slug }) => slug === operationId) && !OTHER_SPELLINGS.includes(operationId),
  );
  const roots = [...managed.flatMap(schemasOf), ...inference.map(inputSchemaOf)];
  const catalog = new TypeCatalog(components.schemas, roots, [
    ...inference.map(({ operationId }) => pascalCase(operationId)),
    ...HAND_WRITTEN,
  ]);
  for (const name of HAND_WRITTEN) catalog.declareByHand(name);
  for (const name of Object.keys(components.schemas).filter((key) => !HAND_WRITTEN.includes(key))) {
    catalog.typeOf({ $ref: `#/components/schemas/${name}` }, pascalCase(name));
  }
  const requests = inference.map((operation) => requestOf(operation, catalog));
  const management = managed.map((operation) => managementOf(operation, catalog));
  const declarations = [...catalog.declarations.values()];
  return { declarations, requests, management };
}

type LocatedOperation = OpenApiOperation & { path: string; method: string };

function requestOf(operation: LocatedOperation, catalog: TypeCatalog): EndpointRequest {
  const { operationId: slug, path, summary } = operation;
  const name = pascalCase(slug);
  return {
    slug,
    path,
    name,
    resultName: `${name}Result`,
    summary,
    fields: catalog.inputFieldsOf(inputSchemaOf(operation), name),
  };
}

/** Parameters, files and names of uploads in one object. A file or its upload is required, so neither alone is. */
function inputSchemaOf({ requestBody }: OpenApiOperation): Schema {
  const json = requestBody?.content['application/json']?.schema ?? {};
  const multipart = requestBody?.content['multipart/form-data']?.schema ?? {};
  const required = (json.required ?? []).filter((name) => !name.startsWith('input_ref'));
  return { type: 'object', properties: { ...multipart.properties, ...json.properties }, required };
}

function managementOf(operation: LocatedOperation, catalog: TypeCatalog): ManagementOperation {
  const { operationId, method, path, summary, parameters = [] } = operation;
  const name = pascalCase(operationId);
  const queryParameters = parameters.filter((parameter) => parameter.in === 'query');
  const isPage = queryParameters.some((parameter) => parameter.name === 'starting_after');
  const query = queryParameters
    .filter((parameter) => !(isPage && ['starting_after', 'ending_before'].includes(parameter.name)))
    .map((parameter) => ({
      name: parameter.name,
      type: catalog.typeOf(parameter.schema, name + pascalCase(parameter.name)),
      required: false,
      description: parameter.description,
    }));
  const answer = answerSchemaOf(operation);
  const shown = isPage ? answer?.properties?.data?.items : answer;
  return {
    operationId,
    method,
    path,
    summary,
    pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => String(parameter)),
    query,
    body: catalog.inputFieldsOf(bodySchemaOf(operation) ?? {}, name),
    isIdempotent: parameters.some((parameter) => parameter.name === 'Idempotency-Key'),
    answer: shown ? catalog.typeOf(shown, objectNameOf(shown) ?? `${name}Response`) : null,
    isPage,
  };
}

const schemasOf = (operation: OpenApiOperation) =>
  [answerSchemaOf(operation), bodySchemaOf(operation)].filter((schema) => schema !== undefined);

const bodySchemaOf = ({ requestBody }: OpenApiOperation) => requestBody?.content['application/json']?.schema;

function answerSchemaOf({ responses }: OpenApiOperation): Schema | undefined {
  return (responses['200'] ?? responses['201'])?.content?.['application/json']?.schema;
}

/** `ApiKey` of an object that says `"object": "api_key"`. */
function objectNameOf({ properties = {} }: Schema): string | undefined {
  const object = properties.object?.const;
  if (object === undefined || object === 'list') return undefined;
  return pascalCase(String(object)) + (properties.secret ? 'WithSecret' : '');
}
