/** Runs a process of the service as it is, but for one module: so that what is measured cannot drift from the service. */
import { registerHooks } from 'node:module';

/** From now on, whoever imports `original` gets `replacement`, which must export what is used of it. */
export function replaceModule(original: URL, replacement: URL): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      return resolved.url === original.href ? { ...resolved, url: replacement.href } : resolved;
    },
  });
}
