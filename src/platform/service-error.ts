import { ERRORS, type ErrorCode, type JobError } from '../contracts/error-codes.ts';

interface ServiceErrorOptions {
  /** The request field the message is about. */
  param?: string | undefined;
  /** Response headers of the error, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** Whether this failure is permanent, although most failures with the code are transient. */
  isForGood?: boolean;
  cause?: unknown;
}

/** A failure with a code from the closed table and a message that tells the caller what to change. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly headers: Record<string, string>;
  readonly #isForGood: boolean;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.param = options.param;
    this.headers = options.headers ?? {};
    this.#isForGood = options.isForGood ?? false;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable && !this.#isForGood;
  }

  /** As the `error` of a job. */
  toJobError(): JobError {
    return { type: ERRORS[this.code].type, code: this.code, message: this.message };
  }
}
