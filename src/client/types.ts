/** Types of every endpoint, derived from the contracts. Types only: the client contains none of the service's code. */
import type { Static } from 'typebox';
import type { ErrorCode, ErrorType } from '../contracts/error-codes.ts';
import type { JobStage, JobStatus } from '../contracts/job.ts';
import type { endpoints } from '../endpoints/list.ts';

type Contract = (typeof endpoints)[number];
type ContractOf<Slug extends EndpointSlug> = Extract<Contract, { slug: Slug }>;

/** Dotted name of an endpoint, such as `dashboard.read`. */
export type EndpointSlug = Contract['slug'];

export type EndpointParameters<Slug extends EndpointSlug> = Static<ContractOf<Slug>['parameters']>;
export type EndpointResult<Slug extends EndpointSlug> = Static<ContractOf<Slug>['result']>;

/** A file sent directly. */
export type FileSource = Blob | Uint8Array<ArrayBuffer>;

/** The parameters of an endpoint and its files: sent directly under their field's name, or named as uploads. */
export type EndpointInput<Slug extends EndpointSlug> = EndpointParameters<Slug> & {
  readonly [Field in ContractOf<Slug>['files']['field']]?: FileSource | readonly FileSource[];
} & { readonly input_ref?: string; readonly input_refs?: readonly string[] };

export interface JobErrorBody {
  type: ErrorType;
  code: ErrorCode;
  message: string;
}

export interface Job<Slug extends EndpointSlug = EndpointSlug> {
  id: string;
  object: 'job';
  endpoint: Slug;
  status: JobStatus;
  livemode: boolean;
  is_staging: boolean;
  /** Epoch seconds, as are the other times. */
  created: number;
  started_at: number | null;
  completed_at: number | null;
  /** `<model>@<release date>` */
  model_version: string | null;
  credits: { reserved: number; charged: number };
  result: EndpointResult<Slug> | null;
  error: JobErrorBody | null;
  stages?: readonly JobStage[];
  test_scenario?: string;
}

export interface Upload {
  id: string;
  object: 'upload';
  status: 'pending' | 'ready';
  livemode: boolean;
  filename: string | null;
  mime_type: string;
  bytes: number;
  received_bytes: number;
  sha256: string | null;
  created: number;
  expires_at: number;
  upload_url?: string;
  upload_headers?: Record<string, string>;
}

export interface WebhookEvent {
  id: string;
  object: 'event';
  type: 'job.succeeded' | 'job.partial' | 'job.failed';
  created: number;
  livemode: boolean;
  is_staging: boolean;
  api_version: string;
  data: { object: Job };
  request: { id: string; idempotency_key: string | null };
  /** Present only on test events, which carry an example. */
  test?: true;
}

/** A balance fell below its threshold. Listed but not delivered to webhooks; no request caused it. */
export interface CreditEvent {
  id: string;
  object: 'event';
  type: 'credits.low_balance';
  created: number;
  livemode: boolean;
  is_staging: boolean;
  api_version: string;
  data: { object: { object: 'credit_balance'; livemode: boolean; balance: number; low_balance_threshold: number } };
  request: null;
}

/** An item of `GET /v1/events`. */
export type ListedEvent = WebhookEvent | CreditEvent;
/** The events of a type. */
export type EventOf<Type extends ListedEvent['type']> = Type extends CreditEvent['type'] ? CreditEvent : WebhookEvent;

/** Availability, price and limits of an endpoint. */
export interface EndpointDescription {
  object: 'endpoint';
  endpoint: EndpointSlug;
  path: string;
  title: string;
  family: string;
  /** Scope that a key needs to call the endpoint. */
  scope: string;
  preview: boolean;
  /** Whether a model is installed for the mode of the calling key. Always true for a test key. */
  available: boolean;
  /** Default build in the mode of the calling key, used when a request pins none. */
  model_version: string | null;
  /** Every build that `modelVersion` can pin: the default, then newest first. */
  model_versions: readonly string[];
  /** By parameter, the values that `model_version` serves. Other parameters accept every value. */
  available_values: Readonly<Record<string, readonly string[]>>;
  price_credits: number;
  /** In the mode of the calling key. */
  rate_limit_per_minute: number;
  wait: boolean;
  expires_after_seconds: number;
  test_scenarios: readonly string[];
}

/** Cost of a validated request; nothing was created. */
export interface DryRun {
  object: 'dry_run';
  endpoint: EndpointSlug;
  livemode: boolean;
  credits: { reserved: number; available: number };
  sufficient: boolean;
}

export interface Page<Item> {
  object: 'list';
  data: Item[];
  has_more: boolean;
}
