/** Vocabulary of jobs. */
import type { JobError } from './error-codes.ts';

export const JOB_STATUSES = ['queued', 'processing', 'succeeded', 'partial', 'failed', 'expired', 'canceled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const TERMINAL_JOB_STATUSES = ['succeeded', 'partial', 'failed', 'expired', 'canceled'] as const;
export type TerminalJobStatus = (typeof TERMINAL_JOB_STATUSES)[number];

export const EVENT_TYPES = ['job.succeeded', 'job.partial', 'job.failed'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Events of balances. They are listed, and not delivered to webhooks. */
export const CREDIT_EVENT_TYPES = ['credits.low_balance'] as const;
export type CreditEventType = (typeof CREDIT_EVENT_TYPES)[number];

/** A stored input file of a job. */
export interface JobInput {
  /** The request field that carried it: `image`, `images`, `video`, … */
  field: string;
  /** Key in the object store. */
  storageKey: string;
  /** Media type as sniffed from the content, never as claimed. */
  mediaType: string;
  bytes: number;
  /** Hex SHA-256 of the content. */
  sha256: string;
  /** The upload that the request named as `input_ref`; null for a file in the request. */
  uploadId: string | null;
}

export const STAGE_STATUSES = ['queued', 'processing', 'succeeded', 'partial', 'failed', 'skipped'] as const;

/** One stage of a bundle, with its own charge. */
export interface JobStage {
  name: string;
  /** `partial`: some of its units failed. Never `succeeded` with an error. */
  status: (typeof STAGE_STATUSES)[number];
  /** From 0 to 1; failed units do not count. */
  progress: number;
  /** Epoch seconds. */
  started_at: number | null;
  completed_at: number | null;
  credits: { reserved: number; charged: number };
  error: JobError | null;
}

/** The outcome of an inference. It stays in PostgreSQL and never enters a Temporal payload. */
export interface InferenceOutcome {
  status: 'succeeded' | 'partial' | 'failed';
  result: unknown;
  error: JobError | null;
  chargedCredits: number;
  /** How each stage ended, when the endpoint has stages. */
  stages?: JobStage[];
}

/** The outcome of one unit of a stage: of a picture, a view, a key frame, or the whole vehicle. */
export type UnitOutcome =
  | {
      status: 'succeeded';
      value: unknown;
      /** Absent: the unit's share of the stage's price. */
      chargedCredits?: number;
      /** Units found for later stages. */
      foundUnits?: number;
    }
  | { status: 'failed'; error: JobError };

/** The outcome of a run of units. It stays in PostgreSQL, like an InferenceOutcome. */
export interface StageOutcome {
  /** In order; empty when there was nothing to do. */
  units: UnitOutcome[];
}

/** The outcomes of each stage's units, in order, by the stage's name. A skipped stage has none. */
export type Found = Readonly<Record<string, readonly UnitOutcome[]>>;
