import type { EntityManager } from '@mikro-orm/postgresql';
import type { ParameterizedContext } from 'koa';
import type { ApiKey } from '../db/entities.ts';

export interface ApiState {
  requestId: string;
  /** Forked for this request. */
  em: EntityManager;
  /** Whose request it is. Set by `authenticate`. */
  apiKey: ApiKey;
}

export type ApiContext = ParameterizedContext<ApiState>;
export type Next = () => Promise<unknown>;
