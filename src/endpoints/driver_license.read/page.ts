/** Print of one picture, laid out in rows along its reading direction, whichever way the document lies in the picture. */
import { type Box, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { type Layout, layOut } from '../../inference/toolkit/text/page-layout.ts';
import { boxOf, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedCharacter, PrintedLine } from '../../inference/toolkit/text/text-lines.ts';

/** A value, where and how certainly it was read, as in the result. */
export interface Reading {
  value: string;
  text: string;
  confidence: number;
  image_index: number;
  bbox: { x: number; y: number; width: number; height: number };
}

/** A line of print. `box` is in coordinates of the page, where rows are horizontal. */
export interface Piece {
  text: string;
  characters: readonly PrintedCharacter[];
  box: Box;
}

export interface Page {
  imageIndex: number;
  layout: Layout;
  /** From top to bottom. */
  pieces: readonly Piece[];
  /** Each from left to right; from top to bottom. */
  rows: readonly (readonly Piece[])[];
}

/** Below it a value is not certain, and null in the result. */
const LEAST_CONFIDENCE = 0.5;
/** Share of the lower piece's height that two pieces of a row have in common. */
const COMMON_HEIGHT = 0.5;

export function toRows(lines: readonly PrintedLine[], imageIndex: number): Page {
  const layout = layOut(lines);
  const pieces = layout.lines
    .map(({ text, characters }) => ({
      text,
      characters,
      box: boxAround(characters.flatMap(({ quad }) => quad.map(layout.toPage))),
    }))
    .toSorted((a, b) => a.box.y0 - b.box.y0);
  const rows: Piece[][] = [];
  for (const piece of pieces) {
    const row = rows.find(([first]) => first && isBeside(first.box, piece.box));
    if (row) row.push(piece);
    else rows.push([piece]);
  }
  return { imageIndex, layout, pieces, rows: rows.map((row) => row.toSorted((a, b) => a.box.x0 - b.box.x0)) };
}

/** Whether two pieces stand at the same height. */
export function isBeside(one: Box, other: Box): boolean {
  const common = Math.min(one.y1, other.y1) - Math.max(one.y0, other.y0);
  return common >= COMMON_HEIGHT * Math.min(one.y1 - one.y0, other.y1 - other.y0);
}

/** One text of several pieces, with the character at each of its places; spaces between pieces have none. */
export interface Run {
  text: string;
  characters: readonly (PrintedCharacter | null)[];
}

export function runOf(pieces: readonly Piece[], separator = ' '): Run {
  return {
    text: pieces.map(({ text }) => text).join(separator),
    characters: pieces.flatMap(({ characters }, index) => [...(index > 0 ? [null] : []), ...characters]),
  };
}

/** The part of a run from one place to another. */
export function partOf({ text, characters }: Run, from: number, to = text.length): Run {
  return { text: text.slice(from, to), characters: characters.slice(from, to) };
}

/** Null where nothing is printed, the value is null, or the least certain character is too uncertain. */
export function readingOf(run: Run, imageIndex: number, value: string | null = run.text.trim()): Reading | null {
  const printed = run.characters.filter((character) => character !== null).filter(({ character }) => character !== ' ');
  const confidence = weakestOf(printed);
  if (!value || printed.length === 0 || confidence < LEAST_CONFIDENCE) return null;
  return { value, text: run.text.trim(), confidence, image_index: imageIndex, bbox: toBoundingBox(boxOf(printed)) };
}
