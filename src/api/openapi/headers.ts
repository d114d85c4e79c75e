/** Response headers, and the request headers that every operation accepts. */
import { API_VERSION } from '../../contracts/api-version.ts';

const text = (description: string, schema: object = {}) => ({ description, schema: { type: 'string', ...schema } });
const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });

/** `components.headers` of the document. */
export const responseHeaders = {
  'Request-Id': text('Id of this request: the one the caller sent, or a new one. Quote it in support requests.'),
  'Service-Version': text('Version of the interface that produced this response.', { const: API_VERSION }),
  'RateLimit-Limit': count('Requests per minute that the organisation may send here.'),
  'RateLimit-Remaining': count('Requests left in the current window.'),
  'RateLimit-Reset': count('Seconds until the window resets.'),
  'RateLimit-Policy': text('The limit and its window in seconds, such as `60;w=60`.'),
  'Concurrency-Limit': count('Jobs the organisation may have open at once in this mode.'),
  'Concurrency-Remaining': count(
    'Further jobs that may be opened now; sent by a dry run and by a concurrency refusal.',
  ),
  'Retry-After': count('Seconds to wait before retrying.'),
  'Idempotent-Replayed': text(
    'Set when this is the stored response of an earlier request with the same `Idempotency-Key`.',
    {
      const: 'true',
    },
  ),
  'Preference-Applied': text('The `wait=<seconds>` preference that was applied.'),
  Range: text('The bytes received so far, such as `bytes=0-1048575`; absent while there are none.'),
};

type HeaderName = keyof typeof responseHeaders;

const ALWAYS: readonly HeaderName[] = ['Request-Id', 'Service-Version'];
const RATE_LIMIT: readonly HeaderName[] = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
];

const CONCURRENCY: readonly HeaderName[] = ['Concurrency-Limit', 'Concurrency-Remaining'];

const references = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const requestHeaders = [
  {
    name: 'Service-Version',
    in: 'header',
    schema: { type: 'string', const: API_VERSION },
    description: 'Version of the interface to use. Any other value is refused.',
  },
  {
    name: 'Request-Id',
    in: 'header',
    // No pattern: the service replaces an unusable id instead of refusing the request.
    schema: { type: 'string' },
    description:
      'An id for this request, chosen by the caller: 8 to 128 letters, digits, dots, underscores and hyphens. Any other is ' +
      'replaced.',
  },
];

interface Operation {
  parameters?: readonly { name: string }[];
  security?: readonly object[];
  responses: object;
}

type Paths = Readonly<Record<string, object>>;

/** Adds to each operation the headers of its successful responses and the request headers that all operations accept. */
export function withHeaders<const Given extends Paths>(paths: Given) {
  return mapValues(paths, (methods) => mapValues(methods as Record<string, Operation>, describeHeaders));
}

function describeHeaders(operation: Operation) {
  const { parameters = [], security, responses } = operation;
  const takes = (name: string) => parameters.some((parameter) => parameter.name === name);
  const isOpen = security?.length === 0;
  const names: HeaderName[] = [
    ...ALWAYS,
    ...(isOpen ? [] : RATE_LIMIT),
    ...(takes('Idempotency-Key') ? (['Idempotent-Replayed'] as const) : []),
    ...(takes('Prefer') ? (['Preference-Applied'] as const) : []),
    ...(takes('dry_run') ? CONCURRENCY : []),
  ];
  return {
    ...operation,
    parameters: [...parameters, ...requestHeaders],
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]: [string, object]) => {
        if ('$ref' in response) return [status, response];
        return [status, { ...response, headers: references(status === '308' ? [...names, 'Range'] : names) }];
      }),
    ),
  };
}

/** Error statuses that may carry `Retry-After`. */
const REPEATABLE = [409, 429, 503];

/** Statuses of requests that were not counted: the caller is unknown or the database is unavailable. */
const UNCOUNTED = [401, 500, 503];

/** Adds headers to `components.responses`, whose names end in the HTTP status. */
export function withErrorHeaders(responses: Paths) {
  return Object.fromEntries(
    Object.entries(responses).map(([name, response]) => {
      const status = Number(name.slice(-3));
      const names: HeaderName[] = [
        ...ALWAYS,
        ...(REPEATABLE.includes(status) ? (['Retry-After'] as const) : []),
        ...(UNCOUNTED.includes(status) ? [] : RATE_LIMIT),
        ...(status === 429 ? CONCURRENCY : []),
      ];
      return [name, { ...response, headers: references(names) }];
    }),
  );
}

function mapValues<Value, Mapped>(values: Readonly<Record<string, Value>>, map: (value: Value) => Mapped) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}
