/** How the command line reports a failure: one line, and an exit code that scripts can act on. */
import { ApiError, ConnectionError, JobFailedError, WaitTimeoutError } from '../client/index.ts';

export const EXIT = {
  ok: 0,
  /** A fault of the command line itself. */
  internal: 1,
  /** Wrong arguments, a missing file, or no settings. */
  usage: 2,
  /** The service refused the request. */
  refused: 3,
  /** The key or token is missing, wrong, or not allowed to do this. */
  unauthorized: 4,
  /** No server, or a broken connection. */
  connection: 5,
  /** The job ended without a result. */
  jobFailed: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The caller has to change something before the command can work. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A failure that has been reported; only the exit code is left to set. */
export class ReportedFailure extends Error {
  readonly code: ExitCode;

  constructor(code: ExitCode) {
    super('reported');
    this.code = code;
  }
}

export function describeFailure(error: unknown): { code: ExitCode; text: string } {
  if (error instanceof UsageError) return { code: EXIT.usage, text: error.message };
  if (error instanceof ApiError) {
    const isUnauthorized = error.status === 401 || error.status === 403;
    const at = error.param === undefined ? '' : ` (${error.param})`;
    const isFileMissing = error.code === 'parameter_missing' && /^input_refs?$/.test(error.param ?? '');
    const hint = isFileMissing ? ' Name a file: vis run <endpoint> photo.jpg' : '';
    const text = `${error.message}${hint}\n  ${error.code}${at}, ${error.requestId}, ${error.docUrl}`;
    return { code: isUnauthorized ? EXIT.unauthorized : EXIT.refused, text };
  }
  if (error instanceof ConnectionError) {
    return { code: EXIT.connection, text: `${error.message}. Is the address right, and the service running?` };
  }
  if (error instanceof JobFailedError || error instanceof WaitTimeoutError) {
    return { code: EXIT.jobFailed, text: error.message };
  }
  if (isFileError(error))
    return { code: EXIT.usage, text: `${error.path}: ${FILE_PROBLEMS[error.code] ?? error.code}` };
  return { code: EXIT.internal, text: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

const FILE_PROBLEMS: Record<string, string> = {
  ENOENT: 'there is no such file',
  EACCES: 'not readable for you',
  EISDIR: 'is a folder',
  ERR_INVALID_ARG_VALUE: 'cannot be opened',
};

function isFileError(error: unknown): error is NodeJS.ErrnoException & { path: string; code: string } {
  return error instanceof Error && 'path' in error && 'code' in error && typeof error.path === 'string';
}
