/** CORS for signed links. The link itself grants access, so any origin may use it. */
import type { ApiContext, Next } from '../context.ts';

export interface OpenToPages {
  /** Such as `GET, HEAD`. */
  methods: string;
  /** Response headers that a page may read, also on errors. */
  exposedHeaders: string;
}

const PREFLIGHT_SECONDS = 86_400;

/** Lets pages of any origin read the responses of a path. */
export function forAnyOrigin({ exposedHeaders }: OpenToPages) {
  return (context: ApiContext, next: Next): Promise<unknown> => {
    context.set('Access-Control-Allow-Origin', '*');
    context.set('Access-Control-Expose-Headers', exposedHeaders);
    return next();
  };
}

/** `OPTIONS`: the preflight that browsers send before a cross-origin `PUT` or `Range` request. */
export function createPreflightRoute({ methods }: OpenToPages) {
  return (context: ApiContext): void => {
    context.set('Access-Control-Allow-Origin', '*');
    context.set('Access-Control-Allow-Methods', methods);
    // `*` excludes Authorization, which signed links do not need.
    context.set('Access-Control-Allow-Headers', '*');
    context.set('Access-Control-Max-Age', String(PREFLIGHT_SECONDS));
    context.status = 204;
  };
}
