import type { ApiContext } from './context.ts';

/** Null where the request's target cannot be parsed, such as `http://[/`, or has no path, such as `http://?x`. */
export function pathOf(context: ApiContext): string | null {
  try {
    return context.path;
  } catch {
    return null;
  }
}
