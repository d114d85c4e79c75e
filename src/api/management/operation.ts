/** An operation of the management API is data: its route, checks and documentation derive from it (ADR 0016). */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Client } from '@temporalio/client';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { ErrorCode } from '../../contracts/error-codes.ts';
import type { PaymentProvider } from '../../credits/payments/payment-provider.ts';
import type { Permission, Role } from '../../organizations/roles.ts';
import type { SealedSecrets } from '../../platform/sealed-secrets.ts';
import type { SignedUrls } from '../../platform/signed-urls.ts';

/** The authenticated caller, as stated by the token. */
export interface Member {
  userId: string;
  organizationId: string;
  role: Role;
}

/** Dependencies of the operations. */
export interface ManagementServices {
  publicBaseUrl: string;
  endpoints: readonly EndpointContract[];
  creditsPerUsd: number;
  /** Null: live credits cannot be bought. */
  payments: PaymentProvider | null;
  sealedSecrets: SealedSecrets;
  signedUrls: SignedUrls;
  temporal: Client;
  /** Why a webhook URL is refused, in words for its owner; null when it is allowed. Resolves the host. */
  findWebhookUrlProblem(url: string): Promise<string | null>;
}

export interface ManagementRequest<Body = unknown, Query = unknown> {
  /** In `handle` of a change: inside its transaction. */
  em: EntityManager;
  services: ManagementServices;
  member: Member;
  /** Path parameters, by name. */
  parameters: Readonly<Record<string, string>>;
  body: Body;
  query: Query;
  now: Date;
  requestId: string;
  /** Value of the header `Accept`. */
  accept: string;
  /** Runs a task after the commit. A failure is only logged, so a sweeper must cover it. */
  afterCommit: (task: () => Promise<void>) => void;
}

/** Schema of operations without parameters. */
export const NO_PARAMETERS = Type.Object({}, { additionalProperties: false });

/** A response that is not JSON. */
export class TextResponse {
  readonly mediaType: string;
  readonly text: string;

  constructor(mediaType: string, text: string) {
    this.mediaType = mediaType;
    this.text = text;
  }
}

interface OperationFacts {
  /** The `operationId` in OpenAPI, and the action in the audit log. */
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** `/mgmt/v1/…`, parameters as `{id}`. */
  path: string;
  /** Group in the reference. */
  tag: string;
  summary: string;
  description?: string;
  permission: Permission;
  /** 204 has no body. */
  status?: 200 | 201 | 204;
  response: TSchema;
  /** Besides JSON. */
  otherMediaTypes?: readonly string[];
  /** Error codes besides those of every operation. */
  errors?: readonly ErrorCode[];
  /** The response shows a secret, so it is stored sealed for repeated requests. */
  showsSecret?: true;
}

/** As the router sees every operation. */
export interface Operation extends OperationFacts {
  body?: TObject;
  query?: TObject;
  /** Checks what `permission` alone cannot express. @throws ServiceError `role_not_permitted` */
  authorize?(request: Omit<ManagementRequest, 'afterCommit'>): Promise<void>;
  /** Slow or external work (a look-up, a call of a provider), done before the transaction. */
  prepare?(request: Omit<ManagementRequest, 'afterCommit'>): Promise<unknown>;
  handle(request: ManagementRequest, prepared: unknown): Promise<unknown>;
}

interface Definition<Body extends TObject, Query extends TObject, Prepared> extends OperationFacts {
  body?: Body;
  query?: Query;
  authorize?(request: Omit<ManagementRequest<Static<Body>, Static<Query>>, 'afterCommit'>): Promise<void>;
  prepare?(request: Omit<ManagementRequest<Static<Body>, Static<Query>>, 'afterCommit'>): Promise<Prepared>;
  handle(request: ManagementRequest<Static<Body>, Static<Query>>, prepared: Prepared): Promise<unknown>;
}

/** Defines an operation. `handle` receives body and query typed by their schemas, validated and with defaults. */
export function defineOperation<Body extends TObject, Query extends TObject, Prepared = undefined>(
  definition: Definition<Body, Query, Prepared>,
): Operation {
  // The router validates body and query by these schemas first.
  return definition;
}
