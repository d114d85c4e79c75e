/** The outline of the page that print stands on. */
import type { Size } from '../../inference/toolkit/decoding/boxes.ts';
import { type Layout, outlineAround } from '../../inference/toolkit/text/page-layout.ts';
import type { PrintedCharacter } from '../../inference/toolkit/text/text-lines.ts';
import type { Result } from './result.ts';

/** Fewer lines or characters are a sign or a label, not a document. */
const LEAST_LINES = 6;
const LEAST_CHARACTERS = 60;
/** For print that names no type of document. Instruments, signs and stickers have fewer and shorter lines. */
const LEAST_UNNAMED = 250;
const LEAST_UNNAMED_LENGTH = 8;
/** How much less certain print without a type is. */
const UNNAMED = 0.6;
/** Share of the print that must run in one direction. */
const LEAST_ALONG = 0.7;
/** Lines with a lower mean probability are texture, or print too small to be read. */
const LEAST_SURE = 0.6;
/** Paper around its print, in heights of a line. */
const MARGIN = 1;

/**
 * Null when there is not enough print for a document.
 * @param isNamed whether the print names a type of document
 */
export function findPage(
  layout: Layout,
  imageIndex: number,
  picture: Size,
  isNamed: boolean,
): Result['pages'][number] | null {
  const lines = layout.lines.filter(isSure);
  const printed = layout.printed.filter(isSure);
  const characters = lines.flatMap((line) => line.characters);
  if (lines.length < LEAST_LINES || characters.length < LEAST_CHARACTERS) return null;
  const along = characters.length / printed.flatMap((line) => line.characters).length;
  if (along < LEAST_ALONG) return null;
  const isText = characters.length >= LEAST_UNNAMED && characters.length / lines.length >= LEAST_UNNAMED_LENGTH;
  if (!isNamed && !isText) return null;
  const confidence = along * surenessOf({ characters }) * (isNamed ? 1 : UNNAMED);
  const corners = printed.flatMap((line) => [...line.quad]);
  const quad = outlineAround(layout, corners, picture, MARGIN * layout.height);
  return { image_index: imageIndex, quad, confidence };
}

function isSure(line: { characters: readonly PrintedCharacter[] }): boolean {
  return surenessOf(line) >= LEAST_SURE;
}

function surenessOf({ characters }: { characters: readonly PrintedCharacter[] }): number {
  return characters.reduce((sum, { probability }) => sum + probability, 0) / characters.length;
}
