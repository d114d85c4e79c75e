/** Messages between a worker and its inference child processes, over Node's IPC (structured clone). */
import type { ErrorCode } from '../../contracts/error-codes.ts';
import type { InstalledModel } from '../models/registry.ts';
import type { Device } from './devices.ts';
import type { ServerAnswer, ServerRequest } from './kserve/kserve-servers.ts';

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
  /** A file of the model could not be read; the next attempt may succeed. */
  isUnreadable?: boolean;
}

/** A picture of a job. The parent reads it, because the object store may be remote. */
export interface TaskFile {
  mediaType: string;
  /** Only for a frame of a video: milliseconds from the start of the video. */
  timeOffsetMs?: number;
  /** Or how to read it whenever the child decodes it, so that a job of many files holds one at a time. */
  content: Uint8Array | (() => Promise<Uint8Array>);
}

/** One job for a child. */
export interface InferenceTask {
  endpoint: string;
  /** The request's pictures, in order. */
  files: readonly TaskFile[];
  parameters: Readonly<Record<string, unknown>>;
  /** Longest wait for a process; unlimited when omitted. */
  waitMs?: number | undefined;
  /** Longest time that it may occupy a process, which is then killed; unlimited when omitted. */
  timeoutMs?: number | undefined;
}

/** A job as it travels. */
export interface SentTask {
  endpoint: string;
  /** `content` is null for a file that the child asks for. */
  files: readonly (Omit<TaskFile, 'content'> & { content: Uint8Array | null })[];
  parameters: Readonly<Record<string, unknown>>;
}

/** A file, or why it cannot be read. */
export type FileAnswer = { content: Uint8Array } | { code: ErrorCode; message: string };

/** One run of a network, for one call of `Model.run` or for a batch of calls. */
export interface NetworkRun {
  /** `<model>@<release date>` */
  modelVersion: string;
  file: string;
  /** Length of the first dimension. */
  samples: number;
  /** Time that each call waited for earlier runs. */
  waitsMs: readonly number[];
  computeMs: number;
}

export type MessageToChild =
  | { type: 'start'; threads: number; device: Device; model: InstalledModel; pipelines: readonly ServedPipeline[] }
  /** Asks whether networks run on a device. */
  | { type: 'probe'; device: Device }
  | { type: 'run'; taskId: number; task: SentTask }
  /** The reply to `read`. */
  | { type: 'content'; readId: number; answer: FileAnswer }
  /** The task's caller has gone. */
  | { type: 'cancel'; taskId: number }
  /** The reply to `ask`: a server's response, or why there is none. */
  | { type: 'answered'; askId: number; answer: ServerAnswer };

export type MessageFromChild =
  /** Every pipeline is warm, except those refused. */
  | { type: 'ready'; refused: readonly Refusal[]; residentBytes: number }
  /** `problem` is null where the device works. */
  | { type: 'probed'; problem: string | null }
  /** Asks for a file of a task. `file` is its index. */
  | { type: 'read'; readId: number; taskId: number; file: number }
  /** Sends a request to a server that runs networks. */
  | { type: 'ask'; askId: number; request: ServerRequest }
  /** The reply to `ask` is no longer needed. */
  | { type: 'forget'; askId: number }
  | { type: 'done'; taskId: number; result: unknown; runs: readonly NetworkRun[] }
  /** `code` is that of a ServiceError; null for any other error. */
  | {
      type: 'failed';
      taskId: number;
      code: ErrorCode | null;
      message: string;
      detail: string;
      runs: readonly NetworkRun[];
    };
