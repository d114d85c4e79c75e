/** What a worker and its inference child processes say to each other, over Node's IPC (structured clone). */
import type { ErrorCode } from '../../contracts/error-codes.ts';
import type { InstalledModel } from '../models/registry.ts';

/** An endpoint that a child is to serve. */
export interface ServedEndpoint {
  endpoint: string;
  /** Module of its pipeline, as a `file:` URL. */
  pipelineUrl: string;
  model: InstalledModel;
}

/** One job for a child. */
export interface InferenceTask {
  endpoint: string;
  /** Content of the request's files, in order. The parent reads it: the object store may be remote. */
  files: readonly Uint8Array[];
  parameters: Readonly<Record<string, unknown>>;
}

export type MessageToChild =
  | { type: 'start'; threads: number; endpoints: readonly ServedEndpoint[] }
  | { type: 'run'; taskId: number; task: InferenceTask };

export type MessageFromChild =
  /** Every pipeline is loaded and warm, but for those refused. */
  | { type: 'ready'; refused: readonly { endpoint: string; reason: string }[] }
  | { type: 'done'; taskId: number; result: unknown }
  /** `code` is that of a ServiceError; null for anything unforeseen. */
  | { type: 'failed'; taskId: number; code: ErrorCode | null; message: string; detail: string };
