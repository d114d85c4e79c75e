import type { EntityManager } from '@mikro-orm/postgresql';
import type { ParameterizedContext } from 'koa';
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { KnownCaller } from '../db/jobs/admit-job.ts';
import type { CallerKey } from '../db/organizations/callers.ts';
import type { Member } from './management/operation.ts';

export interface ApiState {
  requestId: string;
  /** The code of the error that is answered. Set by `errors`. */
  errorCode?: ErrorCode;
  /** The job that this request made. Set once it is committed. */
  admitted?: { id: string; endpoint: string; livemode: boolean };
  /** Forked for this request. */
  em: EntityManager;
  /** Whose request it is. Set by `authenticate`. */
  apiKey: CallerKey;
  /** Whether the endpoint that is called has a model in live mode. Set by `authenticate`. */
  isEndpointInstalled: boolean;
  /** A caller who is yet to be checked, by the statement that admits the job. */
  knownCaller?: UncheckedCaller | undefined;
  /** Who manages the organisation. Set on `/mgmt/v1`, where no API key is. */
  member?: Member;
}

export interface UncheckedCaller extends KnownCaller {
  /** Checks it by itself. @throws ServiceError when the caller may not go on */
  lookUp(): Promise<void>;
}

export type ApiContext = ParameterizedContext<ApiState>;
export type Next = () => Promise<unknown>;
