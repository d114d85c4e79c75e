/** What an endpoint states about itself. Routes, validation, OpenAPI, scopes, prices and limits derive from it. */
import type { TObject, TSchema } from 'typebox';
import type { PlannedStage } from './run-stages.ts';
import type { InferenceTaskQueue } from './task-queues.ts';

export const FAMILIES = ['understand', 'damage', 'parts', 'money', 'render'] as const;
export type Family = (typeof FAMILIES)[number];

/** The files a request carries, as multipart parts or as references to uploads. */
export interface FileInput {
  /** Name of the multipart part: `image`, `images`, `video`. */
  field: string;
  minimum: number;
  maximum: number;
  /** Accepted media types, as sniffed from the content. */
  mediaTypes: readonly string[];
  /** Of these, the ones that may be sent directly as multipart. The others, such as video, come as uploads. */
  directMediaTypes: readonly string[];
  /** Largest file sent directly as multipart. */
  maximumBytes: number;
}

/** A request whose fields are valid, one by one. */
export interface ValidRequest {
  parameters: Readonly<Record<string, unknown>>;
  files: readonly { mediaType: string }[];
}

/** What is wrong with a request whose fields are valid, one by one. */
export interface RequestProblem {
  /** Of files, the name of their part: for a JSON body the reader says `input_ref` in its place. */
  param: string;
  message: string;
  /** The parameter was left out: `parameter_missing`, where any other problem is `parameter_invalid`. */
  isMissing?: true;
}

/** A parameter that names an earlier job of the caller, whose result the endpoint builds on. */
export interface JobReference {
  parameter: string;
  /** Slugs of the endpoints whose succeeded jobs are accepted. */
  endpoints: readonly string[];
}

export interface EndpointContract {
  /** Dotted name; the path is `/v1/` + the slug with its dot as a slash. */
  slug: string;
  /** Other spellings of the slug whose paths work too. */
  aliases?: readonly string[];
  title: string;
  /** Markdown for the reference. */
  description: string;
  family: Family;
  /** True until production weights exist for it. */
  preview: boolean;
  /** Whether `wait=true` may hold the connection. */
  acceptsWait: boolean;
  inferenceTaskQueue: InferenceTaskQueue;
  /** Credits held at admission and charged for a success: of any request, or of the plainest where `price` is given. */
  priceCredits: number;
  /** The price of one request, where it depends on what is asked for. */
  price?: (request: ValidRequest) => number;
  /** Requests a minute of one organisation in live mode; test mode has a quarter. */
  rateLimitPerMinute: number;
  /** Longest time in the queue before the job expires. */
  expiryMs: number;
  /** Longest time of one attempt. */
  inferenceTimeoutMs: number;
  files: FileInput;
  /** The request's fields besides its files. Closed: unknown fields are refused. */
  parameters: TObject;
  /** What a schema cannot say, such as a rule between two fields. Answers what is wrong, or null. */
  refine?: (request: ValidRequest) => RequestProblem | null;
  /** Families whose scopes a request needs beside the endpoint's own, where it runs endpoints of others. */
  furtherFamilies?: (request: ValidRequest) => readonly Family[];
  jobReferences?: readonly JobReference[];
  /** Names of the steps that a job shows as its `stages`, in order. */
  stages?: readonly string[];
  /** Of an endpoint that runs in stages: those of one request. Their prices add up to its price. */
  stagePlan?: (request: ValidRequest) => readonly PlannedStage[];
  result: TSchema;
  /** Every value of `X-Service-Test-Scenario` it supports, with what it does. */
  scenarios: Readonly<Record<string, string>>;
}
