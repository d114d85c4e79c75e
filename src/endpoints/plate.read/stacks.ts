/** Plates of two lines: pairs of lines one above the other, of equal width and height. */
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';

const GREATEST_PROPORTION = 1.4;
/** In heights of the upper line. */
const WIDEST_GAP = 0.6;
const DEEPEST_OVERLAP = 0.4;
/** In widths of the upper line. */
const GREATEST_SHIFT = 0.2;
/** In heights of a line: two words below one another are longer. */
const WIDEST_LINE = 4;

export function stacksOf(lines: readonly PrintedLine[]): [PrintedLine, PrintedLine][] {
  return lines.flatMap((upper) =>
    lines.filter((lower) => isStack(upper, lower)).map((lower): [PrintedLine, PrintedLine] => [upper, lower]),
  );
}

function isStack(upper: PrintedLine, lower: PrintedLine): boolean {
  if (upper === lower) return false;
  const [above, below] = [boxAround(upper.quad), boxAround(lower.quad)];
  const [width, height] = [above.x1 - above.x0, above.y1 - above.y0];
  const [widthBelow, heightBelow] = [below.x1 - below.x0, below.y1 - below.y0];
  const areAlike = (one: number, other: number) => Math.max(one / other, other / one) <= GREATEST_PROPORTION;
  const gap = (below.y0 - above.y1) / height;
  const shift = Math.abs(below.x0 + below.x1 - above.x0 - above.x1) / 2 / width;
  return (
    areAlike(width, widthBelow) &&
    areAlike(height, heightBelow) &&
    gap >= -DEEPEST_OVERLAP &&
    gap <= WIDEST_GAP &&
    shift <= GREATEST_SHIFT &&
    width <= WIDEST_LINE * height
  );
}
