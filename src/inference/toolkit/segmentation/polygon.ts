import type { Point } from '../decoding/detections.ts';

/** As results state an outline: to a tenth of a pixel. @throws Error for none: the decoders of the pipeline must find it */
export function toPolygon(outline: readonly Point[] | null): Point[] {
  if (!outline || outline.length < 3) throw new Error('a detection has no outline');
  return outline.map(({ x, y }) => ({ x: toTenth(x), y: toTenth(y) }));
}

function toTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
