/** Decoded codes → the VINs in them. */
import type { FoundCode } from '../../inference/toolkit/codes/read-codes.ts';
import type { Quad } from '../../inference/toolkit/decoding/rotated-boxes.ts';

export interface CodedVin {
  text: string;
  /** Of the whole code, in pixels of the picture. */
  quad: Quad;
}

/**
 * Seventeen characters beside nothing that could be a further one, ending in four digits (ISO 3779). `I` is none: Code 39
 * carries one before the VIN of an imported vehicle. A label may be attached.
 */
const VIN = /(?:\bVIN|(?<![A-HJ-NPR-Z0-9]))([A-HJ-NPR-Z0-9]{13}\d{4})(?![A-Z0-9])/g;
/** Every VIN has a letter; a number of seventeen digits is something else. */
const LETTER = /[A-Z]/;

/** Each VIN once, with the code that holds it. */
export function findCodedVins(codes: readonly FoundCode[]): CodedVin[] {
  const found = new Map<string, CodedVin>();
  for (const { content, quad } of codes) {
    for (const [, text = ''] of content?.text.toUpperCase().matchAll(VIN) ?? []) {
      if (LETTER.test(text) && !found.has(text)) found.set(text, { text, quad });
    }
  }
  return [...found.values()];
}
