/** What detection decoders find, whatever the make of the network. */
import { type Box, intersectionOverUnion } from './boxes.ts';

/** In pixels, origin at the top left. */
export interface Point {
  x: number;
  y: number;
}

export interface RawDetection {
  classIndex: number;
  /** 0 to 1 */
  score: number;
  /** In pixels of the network's input. */
  box: Box;
}

/** Best first; of equals, the one seen first. */
export function bestFirst<Item extends { score: number }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => b.score - a.score);
}

/**
 * Greedy non-maximum suppression within each class: of two of one class that overlap by more than `overlap`, the weaker is
 * dropped. What torchvision's `batched_nms` keeps.
 *
 * @param items best first
 * @returns at most `maximum` of them, best first
 */
export function suppressPerClass<Item extends RawDetection>(
  items: readonly Item[],
  { overlap, maximum }: { overlap: number; maximum: number },
): Item[] {
  const kept: Item[] = [];
  const keptOfClass = new Map<number, Item[]>();
  for (const item of items) {
    if (kept.length === maximum) break;
    const rivals = keptOfClass.get(item.classIndex) ?? [];
    if (rivals.some((rival) => intersectionOverUnion(item.box, rival.box) > overlap)) continue;
    rivals.push(item);
    keptOfClass.set(item.classIndex, rivals);
    kept.push(item);
  }
  return kept;
}

/**
 * Fast non-maximum suppression within each class: what a better one of its class overlaps by `overlap` or more is dropped,
 * even where that one is dropped itself.
 *
 * @param items best first
 * @returns at most `maximum` of them, best first
 * Source: Bolya, Zhou, Xiao, Lee, "YOLACT: real-time instance segmentation", 2019, section 3.3.
 */
export function suppressFast<Item extends RawDetection>(
  items: readonly Item[],
  { overlap, maximum }: { overlap: number; maximum: number },
  overlapOf: (a: Item, b: Item) => number,
): Item[] {
  const isKept = (item: Item, place: number) =>
    items.slice(0, place).every((better) => better.classIndex !== item.classIndex || overlapOf(better, item) < overlap);
  return items.filter(isKept).slice(0, maximum);
}
