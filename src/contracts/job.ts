/** What every part of the service means by a job. */
import type { JobError } from './error-codes.ts';

export const JOB_STATUSES = ['queued', 'processing', 'succeeded', 'partial', 'failed', 'expired', 'canceled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

export const TERMINAL_JOB_STATUSES = ['succeeded', 'partial', 'failed', 'expired', 'canceled'] as const;
export type TerminalJobStatus = (typeof TERMINAL_JOB_STATUSES)[number];

export const EVENT_TYPES = ['job.succeeded', 'job.partial', 'job.failed'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Events of balances. They can be listed, and are not delivered to webhooks. */
export const CREDIT_EVENT_TYPES = ['credits.low_balance'] as const;
export type CreditEventType = (typeof CREDIT_EVENT_TYPES)[number];

/** A stored input file of a job: where its bytes lie and what they were found to be. */
export interface JobInput {
  /** The request field that carried it: `image`, `images`, `video`, … */
  field: string;
  /** Key in the object store. */
  storageKey: string;
  /** Media type found by sniffing the content, never the one claimed. */
  mediaType: string;
  bytes: number;
  /** Hex SHA-256 of the content. */
  sha256: string;
  /** The upload this input came from, when it was given as `input_ref`. */
  uploadId: string | null;
}

export const STAGE_STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'skipped'] as const;

/** One step of a job that runs in several, with a charge of its own. */
export interface JobStage {
  name: string;
  status: (typeof STAGE_STATUSES)[number];
  /** From 0 to 1. */
  progress: number;
  /** Epoch seconds. */
  started_at: number | null;
  completed_at: number | null;
  credits: { reserved: number; charged: number };
  error: JobError | null;
}

/** What a finished inference says. The result itself stays in PostgreSQL; it never enters a Temporal payload. */
export interface InferenceOutcome {
  status: 'succeeded' | 'partial' | 'failed';
  result: unknown;
  error: JobError | null;
  chargedCredits: number;
  /** How each stage ended, where the endpoint has stages. */
  stages?: JobStage[];
}

/** What one unit of a stage gives: a picture, a view, a key frame, or the vehicle as a whole. */
export type UnitOutcome =
  | {
      status: 'succeeded';
      value: unknown;
      /** Where it is not the unit's share of the stage's price. */
      chargedCredits?: number;
      /** Units that it found for later stages. */
      foundUnits?: number;
    }
  | { status: 'failed'; error: JobError };

/** What a run of units found. It stays in PostgreSQL, as an InferenceOutcome does. */
export interface StageOutcome {
  /** In order; empty where there was nothing to do. */
  units: UnitOutcome[];
}

/** By stage, the outcomes of its units in order. A stage that was skipped has none. */
export type Found = Readonly<Record<string, readonly UnitOutcome[]>>;
