import type { EntityManager } from '@mikro-orm/postgresql';
import type { ParameterizedContext } from 'koa';
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { KnownCaller } from '../jobs/admission-store.ts';
import type { CallerKey } from '../organizations/callers-store.ts';
import type { Member } from './management/operation.ts';

export interface ApiState {
  requestId: string;
  /** Code of the error response. Set by `errors`. */
  errorCode?: ErrorCode;
  /** The job that this request created. Set once it is committed. */
  admitted?: { id: string; endpoint: string; livemode: boolean };
  /** Forked for this request. */
  em: EntityManager;
  /** The caller's key. Set by `authenticate`. */
  apiKey: CallerKey;
  /** SHA-256 of the presented secret. Set by `authenticate`. */
  secretHash: Uint8Array;
  /** Whether the called endpoint has a model in live mode. Set by `authenticate`. */
  isEndpointInstalled: boolean;
  /** A caller that the admission statement still has to check. */
  knownCaller?: UncheckedCaller | undefined;
  /** The member behind a management token. Set on `/mgmt/v1`, which takes no API keys. */
  member?: Member;
}

export interface UncheckedCaller extends KnownCaller {
  /** Checks the caller in a statement of its own. @throws ServiceError for a caller that is refused */
  lookUp(): Promise<void>;
}

export type ApiContext = ParameterizedContext<ApiState>;
export type Next = () => Promise<unknown>;
