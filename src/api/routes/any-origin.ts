/** Signed links are for pages of any origin: their permission is in the link, so nothing is gained by keeping pages out. */
import type { ApiContext, Next } from '../context.ts';

export interface OpenToPages {
  /** Such as `GET, HEAD`. */
  methods: string;
  /** What a page may read beside the body, refusals included. */
  answerHeaders: string;
}

const PREFLIGHT_SECONDS = 86_400;

/** Lets pages of any origin read the answers of a path. */
export function forAnyOrigin({ answerHeaders }: OpenToPages) {
  return (context: ApiContext, next: Next): Promise<unknown> => {
    context.set('Access-Control-Allow-Origin', '*');
    context.set('Access-Control-Expose-Headers', answerHeaders);
    return next();
  };
}

/** `OPTIONS`: what browsers ask before they send a `PUT`, or a `Range`, for a page of another origin. */
export function createPreflightRoute({ methods }: OpenToPages) {
  return (context: ApiContext): void => {
    context.set('Access-Control-Allow-Origin', '*');
    context.set('Access-Control-Allow-Methods', methods);
    // All but Authorization, which no signed link needs.
    context.set('Access-Control-Allow-Headers', '*');
    context.set('Access-Control-Max-Age', String(PREFLIGHT_SECONDS));
    context.status = 204;
  };
}
