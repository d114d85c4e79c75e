/** The contract of an endpoint. Routes, validation, OpenAPI, scopes, prices and limits derive from it. */
import type { TObject, TSchema } from 'typebox';
import type { PlannedStage } from './run-bundle.ts';
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
  /** The media types that may be sent directly as multipart. Others, such as video, come as uploads. */
  directMediaTypes: readonly string[];
  /** Largest file sent directly as multipart. */
  maximumBytes: number;
}

/** A request whose fields are individually valid. */
export interface ValidRequest {
  parameters: Readonly<Record<string, unknown>>;
  files: readonly { mediaType: string }[];
}

/** A fault of a request whose fields are individually valid. */
export interface RequestProblem {
  /** For files, the name of their multipart part; for a JSON request the error names `input_ref` instead. */
  param: string;
  message: string;
  /** The parameter is missing: `parameter_missing` instead of `parameter_invalid`. */
  isMissing?: true;
}

/** A parameter that names an earlier job of the caller; the endpoint builds on its result. */
export interface JobReference {
  parameter: string;
  /** Slugs of the endpoints whose succeeded and partial jobs it accepts. */
  endpoints: readonly string[];
  /** The result must lack nothing: of partial jobs only those serve in which no more than optional stages failed. */
  isExhaustive?: true;
  /** The endpoints among them whose result holds for one picture: the request must send the same file. */
  samePicture?: readonly string[];
}

/** Points of a request that must lie within its picture, in pixels of the picture as displayed. */
export interface RegionOfPicture {
  /** The field that holds them. */
  param: string;
  points: readonly { x: number; y: number }[];
}

export interface EndpointContract {
  /** Dotted name; the path is `/v1/` + the slug with its dot as a slash. */
  slug: string;
  /** Alternative spellings of the slug; their paths work too. */
  aliases?: readonly string[];
  title: string;
  /** Markdown for the reference. */
  description: string;
  family: Family;
  /** True until production weights exist. */
  preview: boolean;
  /** Whether `wait=true` may hold the connection. */
  acceptsWait: boolean;
  inferenceTaskQueue: InferenceTaskQueue;
  /** Credits held at admission and charged for a success. With `price`, the price of a request with default parameters. */
  priceCredits: number;
  /** The price of one request, when it depends on the request. */
  price?: (request: ValidRequest) => number;
  /** Requests a minute per organisation in live mode; test mode allows a quarter. */
  rateLimitPerMinute: number;
  /** Longest time in the queue before the job expires. */
  expiryMs: number;
  /** Longest time of one attempt. */
  inferenceTimeoutMs: number;
  files: FileInput;
  /** The request's fields other than its files. Closed: unknown fields are refused. */
  parameters: TObject;
  /** Rules beyond the schema, such as one between two fields. Returns the problem, or null. */
  refine?: (request: ValidRequest) => RequestProblem | null;
  /** What the request says lies where in its only picture. */
  regions?: (request: ValidRequest) => readonly RegionOfPicture[];
  /** Further rules of test mode, whose fixtures know less than live mode, at the time of the request. */
  refineTestMode?: (request: ValidRequest, now: Date) => RequestProblem | null;
  /** In live mode price books of this kind answer it: a request that none can answer is refused before anything is held. */
  usesPriceBooks?: 'market' | 'repairs';
  /** Further families whose scopes a request needs, when it runs endpoints of other families. */
  furtherFamilies?: (request: ValidRequest) => readonly Family[];
  jobReferences?: readonly JobReference[];
  /** Parameters, of one value or a list, whose values not every model serves. */
  modelParameters?: readonly string[];
  /** Names of the stages that a job shows, in order. */
  stages?: readonly string[];
  /** The stages of one request, for an endpoint that runs in stages; none for a request of one step. Their prices add up to its price. */
  stagePlan?: (request: ValidRequest) => readonly PlannedStage[];
  /** Endpoints that a worker must serve for a request of one step: the one that decodes videos, for a request with a video. */
  requires?: (request: ValidRequest) => readonly string[];
  result: TSchema;
  /** Supported values of `X-Service-Test-Scenario`, each with its effect. */
  scenarios: Readonly<Record<string, string>>;
}
