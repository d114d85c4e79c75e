import type { ApiContext, Next } from '../context.ts';
import type { KeyUse } from '../key-use.ts';

/** Notes the use of the key that a request was let in with, whatever became of the request. */
export function noteKeyUse(keyUse: KeyUse, clock: () => Date) {
  return (context: ApiContext, next: Next): Promise<unknown> => {
    const at = clock();
    return next().finally(() => {
      const { apiKey } = context.state as Partial<ApiContext['state']>;
      if (apiKey) keyUse.note(apiKey.id, at);
    });
  };
}
