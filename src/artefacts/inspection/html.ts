/** Pages: complete, and without anything that runs or is fetched. */
import { FileFault } from './file-fault.ts';

/** Elements that run, fetch, or lead elsewhere. */
const ACTIVE =
  /<(?:script|iframe|frame|object|embed|link|img|image|video|audio|source|form|a|base|foreignobject|use)\b/i;
const REFRESH = /<meta[^>]*http-equiv/i;
/** Within a tag: a handler of an event. */
const HANDLER = /<[^>]*\son[a-z]+\s*=/i;
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
