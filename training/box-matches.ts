/** Found boxes against labelled ones, over pictures. */
import { type Box, fromBoundingBox, intersectionOverUnion } from '../src/inference/toolkit/decoding/boxes.ts';

export interface BoxMatches {
  /** Of one picture, in pixels; the found ones in the order in which they choose. */
  add(
    found: readonly { bbox: { x: number; y: number; width: number; height: number } }[],
    labelled: readonly Box[],
  ): void;
  /** 2 right / (found + labelled). */
  f1(): number;
}

/** @param leastIou of a found box with the labelled one that it takes; each is taken once */
export function createBoxMatches(leastIou: number): BoxMatches {
  const counted = { found: 0, labelled: 0, right: 0 };
  return {
    add(found, labelled) {
      let free = labelled;
      counted.found += found.length;
      counted.labelled += labelled.length;
      for (const { bbox } of found) {
        const box = fromBoundingBox(bbox);
        const [best] = free.toSorted((a, b) => intersectionOverUnion(b, box) - intersectionOverUnion(a, box));
        if (!best || intersectionOverUnion(best, box) < leastIou) continue;
        counted.right += 1;
        free = free.filter((each) => each !== best);
      }
    },
    f1: () => (2 * counted.right) / (counted.found + counted.labelled),
  };
}
