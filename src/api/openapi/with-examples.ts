/** Adds examples to operations and responses. */
import type { OperationExample } from './operation-examples.ts';

type Content = Readonly<Record<string, object>>;
type Answers = Readonly<Record<string, { content?: Content; $ref?: string }>>;

interface Operation {
  operationId?: string;
  requestBody?: { content: Content };
  responses: Answers;
}

/** Adds to each operation the example with its id. */
export function withExamples<const Paths extends Readonly<Record<string, object>>>(
  paths: Paths,
  examples: Readonly<Record<string, OperationExample>>,
) {
  return mapValues(paths, (methods) =>
    mapValues(methods as Readonly<Record<string, Operation>>, (operation) => {
      const example = examples[operation.operationId ?? ''];
      return example ? addTo(operation, example) : operation;
    }),
  );
}

function addTo(operation: Operation, { body, answers = {} }: OperationExample): Operation {
  const { requestBody, responses } = operation;
  return {
    ...operation,
    ...(requestBody &&
      body && { requestBody: { ...requestBody, content: withExample(requestBody.content, { example: body }) } }),
    responses: mapValues(responses, (response, status) => {
      const shown = answers[Number(status)];
      return shown ? withContentExample(response, asExamples(shown)) : response;
    }),
  };
}

/** Adds examples to `components.responses`. */
export function withResponseExamples(
  responses: Readonly<Record<string, object>>,
  examples: Readonly<Record<string, Record<string, { value: object }>>>,
) {
  return mapValues(responses, (response, name) => {
    const shown = examples[name];
    return shown ? withContentExample(response, { examples: shown }) : response;
  });
}

function withContentExample<Response extends { content?: Content }>(response: Response, example: object): Response {
  return response.content ? { ...response, content: withExample(response.content, example) } : response;
}

/** Examples belong to one media type: JSON, or the only other one. */
function withExample(content: Content, example: object): Content {
  const [shown] = 'application/json' in content ? ['application/json'] : Object.keys(content);
  return mapValues(content, (media, mediaType) => (mediaType === shown ? { ...media, ...example } : media));
}

/** A single example needs no summary and no selector. */
function asExamples(shown: Readonly<Record<string, unknown>>): object {
  const all = Object.entries(shown);
  if (all.length === 1) return { example: all[0]?.[1] };
  return {
    examples: Object.fromEntries(all.map(([summary, value], index) => [`example${index + 1}`, { summary, value }])),
  };
}

function mapValues<Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
}
