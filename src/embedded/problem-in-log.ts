/** What a worker's log says it cannot run. A service that starts without a model looks well until the first job. Pure. */

interface LogRecord {
  level?: unknown;
  msg?: unknown;
  reason?: unknown;
  /** What is concerned, whichever of these the record names. */
  endpoint?: unknown;
  modelVersion?: unknown;
  version?: unknown;
  model?: unknown;
  release?: unknown;
  /** A command that helps. */
  install?: unknown;
}

/** Of pino. */
const ERROR_LEVEL = 50;

/** A sentence for the terminal; null for a line of the log that gives no reason for what cannot run. */
export function problemInLog(line: string): string | null {
  if (!line.includes('"reason"')) return null;
  const record = parse(line);
  const isError = Number(record?.level) >= ERROR_LEVEL;
  if (!record || (!isError && record.install === undefined)) return null;
  const { msg, reason, endpoint, modelVersion, version, model, release, install } = record;
  const build = modelVersion ?? version ?? (model && release ? `${text(model)}@${text(release)}` : undefined);
  const about = [endpoint, build].filter((part) => part !== undefined).map(text);
  const help = install === undefined ? '' : `; ${text(install)} installs it`;
  return `${about.length > 0 ? `${about.join(', ')}: ` : ''}${text(msg)}: ${text(reason)}${help}`;
}

const text = (value: unknown) => String(value);

function parse(line: string): LogRecord | null {
  try {
    return JSON.parse(line) as LogRecord;
  } catch {
    return null;
  }
}
