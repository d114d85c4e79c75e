/** Print of one picture, laid out in rows along its reading direction, whichever way the document lies in the picture. */
import { type Box, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { boxOf, textOf, weakestOf } from '../../inference/toolkit/text/print-rows.ts';
import type { PrintedCharacter, PrintedLine } from '../../inference/toolkit/text/text-lines.ts';

/** A value, where and how certainly it was read, as in the result. */
export interface Reading {
  value: string;
  text: string;
  confidence: number;
  image_index: number;
  bbox: { x: number; y: number; width: number; height: number };
}

/** A line of print. `box` is in pixels along and across the reading direction, so its rows are horizontal. */
export interface Piece {
  text: string;
  characters: readonly PrintedCharacter[];
  box: Box;
}

export interface Page {
  imageIndex: number;
  /** In radians, from the picture's x axis to the reading direction. */
  angle: number;
  /** From top to bottom. */
  pieces: readonly Piece[];
  /** Each from left to right; from top to bottom. */
  rows: readonly (readonly Piece[])[];
}

/** Below it a value is not certain, and null in the result. */
const LEAST_CONFIDENCE = 0.5;
/** Share of the lower piece's height that two pieces of a row have in common. */
const COMMON_HEIGHT = 0.5;

export function layOut(lines: readonly PrintedLine[], imageIndex: number): Page {
  const angle = readingAngle(lines);
  const pieces = lines
    .map(({ characters, quad }) => ({ text: textOf(characters), characters, box: turnedBox(quad, -angle) }))
    .toSorted((a, b) => a.box.y0 - b.box.y0);
  const rows: Piece[][] = [];
  for (const piece of pieces) {
    const row = rows.find(([first]) => first && isBeside(first.box, piece.box));
    if (row) row.push(piece);
    else rows.push([piece]);
  }
  return { imageIndex, angle, pieces, rows: rows.map((row) => row.toSorted((a, b) => a.box.x0 - b.box.x0)) };
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

/** In radians: that of the upper edges, longer ones counting more. */
function readingAngle(lines: readonly Pick<PrintedLine, 'quad'>[]): number {
  const sum = lines.reduce(({ x, y }, { quad: [a, b] }) => ({ x: x + b.x - a.x, y: y + b.y - a.y }), { x: 0, y: 0 });
  return Math.atan2(sum.y, sum.x);
}

function turnedBox(quad: readonly Point[], angle: number): Box {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  const xs = quad.map(({ x, y }) => x * cosine - y * sine);
  const ys = quad.map(({ x, y }) => x * sine + y * cosine);
  return { x0: Math.min(...xs), y0: Math.min(...ys), x1: Math.max(...xs), y1: Math.max(...ys) };
}

/** The rectangle along the reading direction around these points, in pixels of the picture: top left first, clockwise. */
export function rectangleAround(points: readonly Point[], angle: number): Point[] {
  const { x0, y0, x1, y1 } = turnedBox(points, -angle);
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  return [
    { x: x0, y: y0 },
    { x: x1, y: y0 },
    { x: x1, y: y1 },
    { x: x0, y: y1 },
  ].map(({ x, y }) => ({ x: x * cosine - y * sine, y: x * sine + y * cosine }));
}
