/** What asks for a path or a method that there is not: it counts, and is told how much is left, as any other request. */
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext, Next } from '../context.ts';

export interface UnroutedDependencies {
  /** Finds the API key of a request and counts it, and calls what comes next. */
  countByKey: (context: ApiContext, next: Next) => Promise<void>;
  /** Finds who manages an organisation, and counts the request. */
  countByMember: (context: ApiContext) => Promise<void>;
}

/** Stands behind all routes. That there is no such path is said elsewhere. @throws ServiceError `rate_limit_exceeded` */
export function createUnroutedRoute({ countByKey, countByMember }: UnroutedDependencies) {
  return async (context: ApiContext): Promise<void> => {
    if (context.get('Authorization') === '') return;
    try {
      if (context.path.startsWith('/v1/')) await countByKey(context, async () => {});
      if (context.path.startsWith('/mgmt/')) await countByMember(context);
    } catch (error) {
      // Whoever it is, there is nothing here; only one who asks too often is told that first.
      if (error instanceof ServiceError && error.code !== 'rate_limit_exceeded') return;
      throw error;
    }
  };
}
