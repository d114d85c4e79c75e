/** Runs a real process of the service with one module replaced, so that the measurement cannot drift from the service. */
import { registerHooks } from 'node:module';

/**
 * From now on, imports of `original` get `replacement`, which must have the same used exports. It may itself import the
 * original.
 */
export function replaceModule(original: URL, replacement: URL): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const isReplaced = resolved.url === original.href && context.parentURL !== replacement.href;
      return isReplaced ? { ...resolved, url: replacement.href } : resolved;
    },
  });
}
