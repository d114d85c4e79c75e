import type { ErrorCode, ErrorType } from '../contracts/error-codes.ts';
import type { Job } from './types.ts';

export interface ErrorBody {
  type: ErrorType;
  code: ErrorCode;
  message: string;
  param?: string;
  doc_url: string;
  request_id: string;
}

/** The service refused a request. `code` is one of a closed list; `message` says what to change. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly type: ErrorType;
  readonly code: ErrorCode;
  /** The field, header or query parameter at fault. */
  readonly param: string | undefined;
  readonly docUrl: string;
  /** Quote it in support requests. */
  readonly requestId: string;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.status = status;
    this.type = body.type;
    this.code = body.code;
    this.param = body.param;
    this.docUrl = body.doc_url;
    this.requestId = body.request_id;
  }
}

/** No usable response: the connection failed, or something between client and service responded. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** The awaited job ended without a result. */
export class JobFailedError extends Error {
  override readonly name = 'JobFailedError';
  readonly job: Job;

  constructor(job: Job) {
    super(job.error?.message ?? `the job ${job.id} is ${job.status}`);
    this.job = job;
  }
}

/** The job did not end within the caller's timeout. It continues: read it later by its id. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError';
  readonly job: Job;

  constructor(job: Job) {
    super(`the job ${job.id} is still ${job.status}`);
    this.job = job;
  }
}
