/** What a worker and its inference child processes say to each other, over Node's IPC (structured clone). */
import type { ErrorCode } from '../../contracts/error-codes.ts';
import type { InstalledModel } from '../models/registry.ts';
import type { ServerAnswer, ServerRequest } from '../remote/kserve-servers.ts';
import type { Device } from './devices.ts';

/** An endpoint that a child is to serve with its model. */
export interface ServedPipeline {
  endpoint: string;
  /** Module of its pipeline, as a `file:` URL. */
  pipelineUrl: string;
}

/** An endpoint that a child cannot serve. */
export interface Refusal {
  endpoint: string;
  reason: string;
  /** A file of the model could not be read just then. */
  isUnreadable?: boolean;
}

/** One job for a child. */
export interface InferenceTask {
  endpoint: string;
  /** Content of the request's files, in order. The parent reads it: the object store may be remote. */
  files: readonly Uint8Array[];
  parameters: Readonly<Record<string, unknown>>;
  /** Longest that it may wait for a process; as long as its caller waits, when left out. */
  waitMs?: number | undefined;
  /** Longest that it may occupy a process, which is then ended. No bound when left out. */
  timeoutMs?: number | undefined;
}

/** One run of a network: of one call of `Model.run`, or of several that were put together. */
export interface NetworkRun {
  /** `<model>@<release date>` */
  modelVersion: string;
  file: string;
  /** Length of the first dimension. */
  samples: number;
  /** Of each call, the time it waited for the runs before. */
  waitsMs: readonly number[];
  computeMs: number;
}

export type MessageToChild =
  | { type: 'start'; threads: number; device: Device; model: InstalledModel; pipelines: readonly ServedPipeline[] }
  /** Asks whether networks truly run on a device. */
  | { type: 'probe'; device: Device }
  | { type: 'run'; taskId: number; task: InferenceTask }
  /** Nobody waits for the answer any more. */
  | { type: 'cancel'; taskId: number }
  /** What a server said to what was asked of it. */
  | { type: 'answered'; askId: number; answer: ServerAnswer };

export type MessageFromChild =
  /** Every pipeline is loaded and warm, but for those refused. */
  | { type: 'ready'; refused: readonly Refusal[]; residentBytes: number }
  /** `problem` is null where the device works. */
  | { type: 'probed'; problem: string | null }
  /** Asks a server that runs networks. */
  | { type: 'ask'; askId: number; request: ServerRequest }
  /** Nobody wants its answer any more. */
  | { type: 'forget'; askId: number }
  | { type: 'done'; taskId: number; result: unknown; runs: readonly NetworkRun[] }
  /** `code` is that of a ServiceError; null for anything unforeseen. */
  | {
      type: 'failed';
      taskId: number;
      code: ErrorCode | null;
      message: string;
      detail: string;
      runs: readonly NetworkRun[];
    };
