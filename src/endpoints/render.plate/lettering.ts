/** The font of replacement plates: strokes of one width with round ends, so that it is sharp at any size and seen from any side. */

/**
 * Per character its strokes, lines from point to point in a box 6 wide and 10 high, y pointing down. A corner with an asterisk is round.
 */
const GLYPHS: Readonly<Record<string, string>> = {
  A: '0,10 3,0 6,10|1,6.8 5,6.8',
  B: '0,4.8 0,0 *5.5,0 *5.5,4.8 0,4.8 0,10 *6,10 *6,4.8 3,4.8',
  C: '6,2.8 *6,0 *0,0 *0,10 *6,10 6,7.2',
  D: '0,5 0,0 *6,0 *6,10 0,10 0,5',
  E: '6,0 0,0 0,10 6,10|0,4.8 5,4.8',
  F: '6,0 0,0 0,10|0,4.9 5,4.9',
  G: '6,2.8 *6,0 *0,0 *0,10 *6,10 6,5.4 3.4,5.4',
  H: '0,0 0,10|6,0 6,10|0,4.9 6,4.9',
  I: '3,0 3,10',
  J: '5.4,0 *5.4,10 *0,10 0,7.4',
  K: '0,0 0,10|6,0 0,6.2|2,4.4 6,10',
  L: '0,0 0,10 6,10',
  M: '0,10 0,0 3,6 6,0 6,10',
  N: '0,10 0,0 6,10 6,0',
  O: '3,0 *6,0 *6,10 *0,10 *0,0 3,0',
  P: '0,10 0,0 *6,0 *6,5.4 0,5.4',
  Q: '3,0 *6,0 *6,10 *0,10 *0,0 3,0|3.7,7.2 6.2,10.4',
  R: '0,10 0,0 *6,0 *6,5.4 0,5.4|3,5.4 6,10',
  S: '6,2.5 *6,0 *0,0 *0,4.9 *6,4.9 *6,10 *0,10 0,7.5',
  T: '0,0 6,0|3,0 3,10',
  U: '0,0 *0,10 *6,10 6,0',
  V: '0,0 3,10 6,0',
  W: '0,0 1.5,10 3,3 4.5,10 6,0',
  X: '0,0 6,10|6,0 0,10',
  Y: '0,0 3,5 6,0|3,5 3,10',
  Z: '0,0 6,0 0,10 6,10',
  0: '3,0 *5.5,0 *5.5,10 *0.5,10 *0.5,0 3,0',
  1: '1,2.6 3.8,0 3.8,10',
  2: '0.2,2.7 *0.2,0 *6,0 *6,5 0,10 6,10',
  3: '0.3,0 5.8,0 2.8,4 *6,4 *6,10 *0,10 0,7.6',
  4: '3.8,0 0,7.2 6,7.2|4.4,4.2 4.4,10',
  5: '5.6,0 0.5,0 0.4,4.2 *6,4.2 *6,10 *0,10 0,7.6',
  6: '5.6,2.2 *5.6,0 *0.2,0 *0.2,10 *6,10 *6,4.4 *0.2,4.4 0.2,6.5',
  7: '0,0 6,0 2.2,10',
  8: '3,0 *5.6,0 *5.6,4.7 *0.4,4.7 *0.4,0 3,0|3,4.7 *6,4.7 *6,10 *0,10 *0,4.7 3,4.7',
  9: '0.4,7.8 *0.4,10 *5.8,10 *5.8,0 *0,0 *0,5.6 *5.8,5.6 5.8,3.5',
  '-': '1,5.2 5,5.2',
  '.': '3,9.8 3,10',
  '·': '3,5 3,5.2',
  ' ': '',
};

const BOX = { width: 6, height: 10 };
/** Of strokes, and between the strokes of two characters, in units of the box. */
const STROKE = 1.5;
const GAP = 1;
/** Largest radius of a round corner, and the lines that draw it. */
const RADIUS = 2.6;
const LINES = 6;
/** Margins on either side of the text, and above and below it, as fractions of the plate. */
const FREE = { x: 0.07, y: 0.17 };
/** How much wider than high letters may be set, beside their usual shape. */
const WIDEST = 1.15;

type Line = readonly [fromX: number, fromY: number, toX: number, toY: number];

const linesByCharacter = new Map(
  Object.entries(GLYPHS).map(([character, strokes]) => [
    character,
    strokes
      .split('|')
      .filter((stroke) => stroke !== '')
      .flatMap(linesOf),
  ]),
);

/** Returns the first character without a glyph. */
export function unwritable(text: string): string | undefined {
  return Array.from(text).find((character) => !linesByCharacter.has(character));
}

/**
 * Sets a text in the middle of a plate.
 * @param plate its width and height in any unit
 * @returns how far (u, v) of its unit square lies within a stroke, in that unit; negative outside
 */
export function setText(text: string, plate: { width: number; height: number }): (u: number, v: number) => number {
  const characters = Array.from(text);
  const pitch = BOX.width + STROKE + GAP;
  const length = characters.length * pitch - GAP;
  const down = ((1 - 2 * FREE.y) * plate.height) / (BOX.height + STROKE);
  const across = Math.min(down * WIDEST, ((1 - 2 * FREE.x) * plate.width) / length);
  const lines = characters.map((character) => linesByCharacter.get(character) ?? []);
  return (u, v) => {
    const x = ((u - 0.5) * plate.width) / across + length / 2;
    const y = ((v - 0.5) * plate.height) / down + BOX.height / 2;
    // The next character's strokes may be nearer at the gap.
    const index = Math.min(Math.max(0, Math.floor((x + GAP / 2) / pitch)), characters.length - 1);
    const away = distanceTo(lines[index] ?? [], x - index * pitch - STROKE / 2, y);
    return (STROKE / 2 - away) * Math.min(across, down);
  };
}

/** A stroke as straight lines. */
function linesOf(stroke: string): Line[] {
  const corners = stroke.split(' ').map((corner) => {
    const [x = 0, y = 0] = corner.replace('*', '').split(',').map(Number);
    return { x, y, isRound: corner.startsWith('*') };
  });
  const points = corners.flatMap((corner, index) => {
    const [before, after] = [corners[index - 1], corners[index + 1]];
    if (!corner.isRound || !before || !after) return [corner];
    const reach = (to: typeof corner) =>
      Math.min(RADIUS, Math.hypot(to.x - corner.x, to.y - corner.y) / (to.isRound ? 2 : 1));
    const radius = Math.min(reach(before), reach(after));
    const towards = (to: typeof corner) => {
      const share = radius / Math.hypot(to.x - corner.x, to.y - corner.y);
      return { x: corner.x + (to.x - corner.x) * share, y: corner.y + (to.y - corner.y) * share };
    };
    const [start, end] = [towards(before), towards(after)];
    const centre = { x: start.x + end.x - corner.x, y: start.y + end.y - corner.y };
    // A quarter of a circle between two sides at right angles.
    return Array.from({ length: LINES + 1 }, (_, step) => {
      const angle = (step / LINES) * (Math.PI / 2);
      return {
        x: centre.x + (start.x - centre.x) * Math.cos(angle) + (end.x - centre.x) * Math.sin(angle),
        y: centre.y + (start.y - centre.y) * Math.cos(angle) + (end.y - centre.y) * Math.sin(angle),
      };
    });
  });
  return points.slice(1).map((point, index): Line => {
    const from = points[index] ?? point;
    return [from.x, from.y, point.x, point.y];
  });
}

function distanceTo(lines: readonly Line[], x: number, y: number): number {
  let nearest = Number.POSITIVE_INFINITY;
  for (const [fromX, fromY, toX, toY] of lines) {
    const [alongX, alongY] = [toX - fromX, toY - fromY];
    const square = alongX ** 2 + alongY ** 2;
    const share = square === 0 ? 0 : Math.min(Math.max(((x - fromX) * alongX + (y - fromY) * alongY) / square, 0), 1);
    nearest = Math.min(nearest, Math.hypot(x - fromX - alongX * share, y - fromY - alongY * share));
  }
  return nearest;
}
