/** Axis-aligned boxes. */

/** Corners in pixels, origin at the top left; x1 and y1 are exclusive edges. */
export interface Box {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export interface Size {
  width: number;
  height: number;
}

export function clamp(value: number, minimum: number, maximum: number): number {
  return Math.min(Math.max(value, minimum), maximum);
}

/** Grows a box on each side by shares of its width and height, clamped to the picture. In pixels. */
export function expandBox(box: Box, shareX: number, shareY: number, picture: Size): Box {
  const x = shareX * (box.x1 - box.x0);
  const y = shareY * (box.y1 - box.y0);
  return {
    x0: Math.max(0, box.x0 - x),
    y0: Math.max(0, box.y0 - y),
    x1: Math.min(picture.width, box.x1 + x),
    y1: Math.min(picture.height, box.y1 + y),
  };
}

export function clampBox(box: Box, picture: Size): Box {
  return expandBox(box, 0, 0, picture);
}

/** Intersection over union, 0 to 1; 0 for boxes that only touch. */
export function intersectionOverUnion(a: Box, b: Box): number {
  const intersection = intersectionArea(a, b);
  return intersection === 0 ? 0 : intersection / (areaOfBox(a) + areaOfBox(b) - intersection);
}

/** Share of the smaller of two boxes that both have in common, 0 to 1: the overlap coefficient of Szymkiewicz and Simpson. */
export function overlapCoefficient(a: Box, b: Box): number {
  const intersection = intersectionArea(a, b);
  return intersection === 0 ? 0 : intersection / Math.min(areaOfBox(a), areaOfBox(b));
}

/** In square pixels; 0 for boxes that only touch. */
export function intersectionArea(a: Box, b: Box): number {
  const width = Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0);
  const height = Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0);
  return width <= 0 || height <= 0 ? 0 : width * height;
}

export function areaOfBox({ x0, y0, x1, y1 }: Box): number {
  return (x1 - x0) * (y1 - y0);
}

/**
 * Greedy non-maximum suppression: drops the later of two items whose intersection over union exceeds `overlap`.
 * @param items best first
 */
export function suppressOverlaps<Item extends { box: Box }>(items: readonly Item[], overlap: number): Item[] {
  const kept: Item[] = [];
  for (const item of items) {
    if (kept.every((other) => intersectionOverUnion(item.box, other.box) <= overlap)) kept.push(item);
  }
  return kept;
}

/** The form in results: `{x, y, width, height}`, rounded to a tenth of a pixel. */
export function toBoundingBox(box: Box): { x: number; y: number; width: number; height: number } {
  const tenth = (value: number) => Math.round(value * 10) / 10;
  const [x, y] = [tenth(box.x0), tenth(box.y0)];
  return { x, y, width: tenth(Math.max(0, tenth(box.x1) - x)), height: tenth(Math.max(0, tenth(box.y1) - y)) };
}

/** The box of `{x, y, width, height}`, as requests and results state it. */
export function fromBoundingBox({ x, y, width, height }: ReturnType<typeof toBoundingBox>): Box {
  return { x0: x, y0: y, x1: x + width, y1: y + height };
}

/** Whether the middle of `inner` lies within `outer`. */
export function holdsMiddle(outer: Box, inner: Box): boolean {
  const [x, y] = [(inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2];
  return x >= outer.x0 && x <= outer.x1 && y >= outer.y0 && y <= outer.y1;
}
