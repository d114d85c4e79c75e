/** The operator's servers that run inference elsewhere: their addresses and headers are configured only here. */

/** A cluster that runs the whole pipeline of an endpoint, and calls back. */
export interface RemoteEndpoint {
  /** Slug. */
  endpoint: string;
  /** `<model>@<release date>`: the build that runs there. */
  modelVersion: string;
  /** Receives the dispatches. */
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Silence after which a dispatch counts as lost. */
  heartbeatTimeoutMs: number;
}

/** A server that speaks the KServe v2 protocol, such as Triton. */
export interface KserveServer {
  /** As `model.json` names it. */
  name: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Longest time of one request. */
  timeoutMs: number;
}

type Fields = Readonly<Record<string, unknown>>;

const MODEL_VERSION = /^[a-z0-9][a-z0-9-]*@\d{4}-\d{2}-\d{2}$/;
const HEARTBEAT_TIMEOUT_SECONDS = 30;
const KSERVE_TIMEOUT_SECONDS = 30;

/** Parses a JSON list. @throws Error that names the field, and contains no header, which is secret */
export function parseRemoteEndpoints(text: string): readonly RemoteEndpoint[] {
  const endpoints = readList(text, ['endpoint', 'modelVersion', 'url', 'headers', 'heartbeatTimeoutSeconds']).map(
    (fields, index) => {
      const at = (field: string) => `[${index}].${field}`;
      return {
        endpoint: readText(fields.endpoint, at('endpoint'), /^[a-z0-9_]+(?:\.[a-z0-9_]+)?$/, 'the slug of an endpoint'),
        modelVersion: readText(fields.modelVersion, at('modelVersion'), MODEL_VERSION, '<model>@<release date>'),
        url: readUrl(fields.url, at('url')),
        headers: readHeaders(fields.headers, at('headers')),
        heartbeatTimeoutMs: readSeconds(
          fields.heartbeatTimeoutSeconds ?? HEARTBEAT_TIMEOUT_SECONDS,
          at('heartbeatTimeoutSeconds'),
        ),
      };
    },
  );
  refuseTwice(endpoints.map(({ endpoint }) => endpoint));
  return endpoints;
}

/** Parses a JSON list. @throws Error that names the field, and contains no header, which is secret */
export function parseKserveServers(text: string): readonly KserveServer[] {
  const servers = readList(text, ['name', 'url', 'headers', 'timeoutSeconds']).map((fields, index) => {
    const at = (field: string) => `[${index}].${field}`;
    return {
      name: readText(fields.name, at('name'), /^[a-z0-9][a-z0-9-]*$/, 'lower-case letters, digits and dashes'),
      url: readUrl(fields.url, at('url')),
      headers: readHeaders(fields.headers, at('headers')),
      timeoutMs: readSeconds(fields.timeoutSeconds ?? KSERVE_TIMEOUT_SECONDS, at('timeoutSeconds')),
    };
  });
  refuseTwice(servers.map(({ name }) => name));
  return servers;
}

function readList(text: string, known: readonly string[]): Fields[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message would repeat the text.
  }
  if (!Array.isArray(value)) throw new Error('must be a JSON list');
  return value.map((item: unknown, index) => {
    if (!isObject(item)) throw new Error(`must be a JSON list of objects: [${index}] is not an object`);
    const unknown = Object.keys(item).find((field) => !known.includes(field));
    if (unknown !== undefined)
      throw new Error(`must not have [${index}].${unknown}: the fields are ${known.join(', ')}`);
    return item;
  });
}

function readText(value: unknown, where: string, pattern: RegExp, what: string): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw new Error(`must have ${where}: ${what}`);
}

function readUrl(value: unknown, where: string): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  if (!isPlain) throw new Error(`must have ${where}: an http or https URL without credentials, query and fragment`);
  return url.href.replace(/\/$/, '');
}

function readHeaders(value: unknown, where: string): Record<string, string> {
  if (value === undefined) return {};
  const isFit = isObject(value) && Object.entries(value).every(([name, content]) => isHeader(name, content));
  if (!isFit) throw new Error(`must have ${where}: names and values of HTTP headers, or leave it out`);
  return value as Record<string, string>;
}

function isHeader(name: string, value: unknown): boolean {
  // The client sets these itself.
  const isOwn = /^(?:host|connection|transfer-encoding|inference-header-content-length|content-.*)$/i.test(name);
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !isOwn && typeof value === 'string' && /^[\t\x20-\x7e]*$/.test(value);
}

function readSeconds(value: unknown, where: string): number {
  if (typeof value === 'number' && value >= 1 && value <= 3_600) return value * 1_000;
  throw new Error(`must have ${where}: a number of seconds from 1 to 3600`);
}

function refuseTwice(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`must name ${twice} once`);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
