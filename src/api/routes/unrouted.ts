/** Requests without a route count against the rate limit and carry its headers, like any other. */
import { ServiceError } from '../../platform/service-error.ts';
import type { ApiContext, Next } from '../context.ts';

export interface UnroutedDependencies {
  /** Authenticates the API key, counts the request and calls `next`. */
  countByKey: (context: ApiContext, next: Next) => Promise<void>;
  /** Authenticates the member and counts the request. */
  countByMember: (context: ApiContext) => Promise<void>;
}

/** Runs after all routes; `errors` renders the 404. @throws ServiceError `rate_limit_exceeded` */
export function createUnroutedRoute({ countByKey, countByMember }: UnroutedDependencies) {
  return async (context: ApiContext): Promise<void> => {
    if (context.get('Authorization') === '') return;
    try {
      if (context.path.startsWith('/v1/')) await countByKey(context, async () => {});
      if (context.path.startsWith('/mgmt/')) await countByMember(context);
    } catch (error) {
      // The 404 takes precedence over every refusal except the rate limit.
      if (error instanceof ServiceError && error.code !== 'rate_limit_exceeded') return;
      throw error;
    }
  };
}
