import type { KeyUse } from '../../organizations/key-use.ts';
import type { ApiContext, Next } from '../context.ts';

/** Records the use of an accepted key, whether or not the request succeeds. */
export function noteKeyUse(keyUse: KeyUse, clock: () => Date) {
  return (context: ApiContext, next: Next): Promise<unknown> => {
    const at = clock();
    return next().finally(() => {
      const { apiKey } = context.state as Partial<ApiContext['state']>;
      if (apiKey) keyUse.note(apiKey.id, at);
    });
  };
}
