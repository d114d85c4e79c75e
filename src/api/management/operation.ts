/** What an operation of the management API is: data, from which its route, its checks and its documentation come. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Client } from '@temporalio/client';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { PaymentProvider } from '../../billing/payment-provider.ts';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import type { ErrorCode } from '../../contracts/error-codes.ts';
import type { Permission, Role } from '../../domain/roles.ts';
import type { SealedSecrets } from '../../domain/sealed-secrets.ts';

/** Whoever asks, as their token says. */
export interface Member {
  userId: string;
  organizationId: string;
  role: Role;
}

/** What operations use of the process they run in. */
export interface ManagementServices {
  publicBaseUrl: string;
  endpoints: readonly EndpointContract[];
  creditsPerUsd: number;
  /** Null: live credits cannot be bought. */
  payments: PaymentProvider | null;
  sealedSecrets: SealedSecrets;
  temporal: Client;
  /** Why a webhook may not go to a URL, in words for its owner; null when it may. Looks its host up. */
  findWebhookUrlProblem(url: string): Promise<string | null>;
}

export interface ManagementRequest<Body = unknown, Query = unknown> {
  /** Of an operation that changes something: inside its one transaction. */
  em: EntityManager;
  services: ManagementServices;
  member: Member;
  /** Of the path, by name. */
  parameters: Readonly<Record<string, string>>;
  body: Body;
  query: Query;
  now: Date;
  requestId: string;
  /** Value of the header `Accept`. */
  accept: string;
  /** Runs once the transaction is committed. What fails then is logged and must be made up for by somebody else. */
  afterCommit: (task: () => Promise<void>) => void;
}

/** Of operations that take none. */
export const NO_PARAMETERS = Type.Object({}, { additionalProperties: false });

/** An answer that is not JSON. */
export class TextAnswer {
  readonly mediaType: string;
  readonly text: string;

  constructor(mediaType: string, text: string) {
    this.mediaType = mediaType;
    this.text = text;
  }
}

interface OperationFacts {
  /** As in OpenAPI, and the name of what was done in the audit log. */
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** `/mgmt/v1/…`, parameters as `{id}`. */
  path: string;
  /** Group in the reference. */
  tag: string;
  summary: string;
  description?: string;
  permission: Permission;
  /** Of the answer; 204 has no body. */
  status?: 200 | 201 | 204;
  answer: TSchema;
  /** Besides JSON. */
  otherMediaTypes?: readonly string[];
  /** Codes it answers besides those of every operation. */
  errors?: readonly ErrorCode[];
  /** Its answer shows a secret, which is sealed where a repeated request finds it. */
  showsSecret?: true;
}

/** As the router sees every operation. */
export interface Operation extends OperationFacts {
  body?: TObject;
  query?: TObject;
  /** Whether the role may do this very thing, where `permission` does not say it all. Throws where it may not. */
  authorize?(request: Omit<ManagementRequest, 'afterCommit'>): Promise<void>;
  /** What takes long or leaves the process (a look-up, a call of a provider) comes before the transaction. */
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

/** Defines an operation. `handle` sees body and query with the types of their schemas, checked and with defaults. */
export function defineOperation<Body extends TObject, Query extends TObject, Prepared = undefined>(
  definition: Definition<Body, Query, Prepared>,
): Operation {
  // The router validates body and query by these very schemas before it calls.
  return definition;
}
