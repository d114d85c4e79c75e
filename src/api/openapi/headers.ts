/** The headers of answers, and those that every request may carry. */
import { API_VERSION } from '../../domain/job-event.ts';

const text = (description: string, schema: object = {}) => ({ description, schema: { type: 'string', ...schema } });
const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } });

/** `components.headers` of the document. */
export const answerHeaders = {
  'Request-Id': text('Names this request: the id that was sent, or a new one. Quote it when you ask for help.'),
  'Service-Version': text('The version of the interface that answered.', { const: API_VERSION }),
  'RateLimit-Limit': count('Requests a minute that the organisation may make here.'),
  'RateLimit-Remaining': count('How many are left of them.'),
  'RateLimit-Reset': count('Seconds until there are all of them again.'),
  'RateLimit-Policy': text('The limit with its window in seconds, such as `60;w=60`.'),
  'Concurrency-Limit': count('Jobs of the organisation that may be open at once in this mode.'),
  'Concurrency-Remaining': count('How many more may be: told by a dry run, and by a refusal for too many.'),
  'Retry-After': count('Seconds after which the request may be repeated.'),
  'Idempotent-Replayed': text('Set when the answer is that of an earlier request with this `Idempotency-Key`.', {
    const: 'true',
  }),
  'Preference-Applied': text('The `wait=<seconds>` of `Prefer`, where it was followed.'),
  Range: text('The bytes that are there, such as `bytes=0-1048575`; left out while there are none.'),
};

type HeaderName = keyof typeof answerHeaders;

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
    description: 'The version of the interface that the caller means: any other is refused.',
  },
  {
    name: 'Request-Id',
    in: 'header',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{8,128}$' },
    description: "An id of the caller's own for the request. One that does not fit the pattern is replaced.",
  },
];

interface Operation {
  parameters?: readonly { name: string }[];
  security?: readonly object[];
  responses: object;
}

type Paths = Readonly<Record<string, object>>;

/** Adds to each operation the headers of its good answers, and the request headers that all take. */
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

/** Statuses of errors that may tell when to try again. */
const REPEATABLE = [409, 429, 503];

/** Who asks is not known, or nothing can be. */
const UNCOUNTED = [401, 500, 503];

/** Adds their headers to `components.responses`, whose names end in the HTTP status. */
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
