/** The font of replacement plates: five dots wide and seven high. */

/** Per character seven rows from the top; the leftmost dot is the highest of five bits. */
const GLYPHS: Readonly<Record<string, readonly number[]>> = Object.fromEntries(
  [
    ['A', '0E 11 11 1F 11 11 11'],
    ['B', '1E 11 11 1E 11 11 1E'],
    ['C', '0E 11 10 10 10 11 0E'],
    ['D', '1E 11 11 11 11 11 1E'],
    ['E', '1F 10 10 1E 10 10 1F'],
    ['F', '1F 10 10 1E 10 10 10'],
    ['G', '0E 11 10 17 11 11 0E'],
    ['H', '11 11 11 1F 11 11 11'],
    ['I', '0E 04 04 04 04 04 0E'],
    ['J', '07 02 02 02 02 12 0C'],
    ['K', '11 12 14 18 14 12 11'],
    ['L', '10 10 10 10 10 10 1F'],
    ['M', '11 1B 15 15 11 11 11'],
    ['N', '11 19 15 13 11 11 11'],
    ['O', '0E 11 11 11 11 11 0E'],
    ['P', '1E 11 11 1E 10 10 10'],
    ['Q', '0E 11 11 11 15 12 0D'],
    ['R', '1E 11 11 1E 14 12 11'],
    ['S', '0F 10 10 0E 01 01 1E'],
    ['T', '1F 04 04 04 04 04 04'],
    ['U', '11 11 11 11 11 11 0E'],
    ['V', '11 11 11 11 11 0A 04'],
    ['W', '11 11 11 15 15 1B 11'],
    ['X', '11 11 0A 04 0A 11 11'],
    ['Y', '11 11 0A 04 04 04 04'],
    ['Z', '1F 01 02 04 08 10 1F'],
    ['0', '0E 11 13 15 19 11 0E'],
    ['1', '04 0C 04 04 04 04 0E'],
    ['2', '0E 11 01 06 08 10 1F'],
    ['3', '1F 02 04 02 01 11 0E'],
    ['4', '02 06 0A 12 1F 02 02'],
    ['5', '1F 10 1E 01 01 11 0E'],
    ['6', '06 08 10 1E 11 11 0E'],
    ['7', '1F 01 02 04 08 08 08'],
    ['8', '0E 11 11 0E 11 11 0E'],
    ['9', '0E 11 11 0F 01 02 0C'],
    ['-', '00 00 00 1F 00 00 00'],
    ['.', '00 00 00 00 00 0C 0C'],
    ['·', '00 00 0C 0C 00 00 00'],
    [' ', '00 00 00 00 00 00 00'],
  ].map(([character = '', rows = '']) => [character, rows.split(' ').map((row) => Number.parseInt(row, 16))]),
);

const GLYPH = { width: 5, height: 7, gap: 1 };
/** Margins on either side of the text, and above and below it, as fractions of the plate. */
const FREE = { x: 0.06, y: 0.18 };

/** Returns the first character without a glyph. */
export function unwritable(text: string): string | undefined {
  return Array.from(text).find((character) => !GLYPHS[character]);
}

/** Whether the text has ink at (u, v) in the unit square of the plate. */
export function isInk(text: string, u: number, v: number): boolean {
  const characters = Array.from(text);
  const dots = characters.length * (GLYPH.width + GLYPH.gap) - GLYPH.gap;
  const column = Math.floor(((u - FREE.x) / (1 - 2 * FREE.x)) * dots);
  const row = Math.floor(((v - FREE.y) / (1 - 2 * FREE.y)) * GLYPH.height);
  if (column < 0 || column >= dots || row < 0 || row >= GLYPH.height) return false;
  const place = column % (GLYPH.width + GLYPH.gap);
  const glyph = GLYPHS[characters[Math.floor(column / (GLYPH.width + GLYPH.gap))] ?? ' '];
  return place < GLYPH.width && (((glyph?.[row] ?? 0) >> (GLYPH.width - 1 - place)) & 1) === 1;
}
