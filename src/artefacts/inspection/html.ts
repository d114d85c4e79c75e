/** Pages: complete, and without anything that runs or is fetched. */
import { FileFault } from './file-fault.ts';

/** Elements that run, fetch, or lead elsewhere. */
const ACTIVE =
  /<(?:script|iframe|frame|object|embed|link|img|image|video|audio|source|form|a|base|foreignobject|use)\b/i;
/**
 * Anywhere, not only within tags: where a tag ends depends on quotes, and a search from each `<` would take square time. A report has no
 * such text.
 */
const REFRESH = /http-equiv/i;
/** A handler of an event. Attributes may follow each other without a space. */
const HANDLER = /[\s/"'`]on[a-z]+\s*=/i;
const ADDRESS = /url\s*\(|@import|javascript:/i;

/** @throws FileFault */
export function examineHtml(bytes: Buffer): null {
  const text = textOf(bytes);
  if (!/^<!doctype html>/i.test(text) || !/<\/html>\s*$/i.test(text)) {
    throw new FileFault('is not a page from "<!doctype html>" to "</html>"');
  }
  if ([ACTIVE, REFRESH, HANDLER, ADDRESS].some((pattern) => pattern.test(text))) {
    throw new FileFault('contains something that runs or is fetched');
  }
  return null;
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FileFault('is not UTF-8');
  }
}
