/** Detections of any architecture, and non-maximum suppression. */
import { type Box, clamp, intersectionOverUnion, type Size } from './boxes.ts';

/** In pixels, origin at the top left. */
export interface Point {
  x: number;
  y: number;
}

export function clampPoint({ x, y }: Point, { width, height }: Size): Point {
  return { x: clamp(x, 0, width), y: clamp(y, 0, height) };
}

export interface RawDetection {
  classIndex: number;
  /** 0 to 1 */
  score: number;
  /** In pixels of the network's input. */
  box: Box;
}

/** Sorts best first; stable for equal scores. */
export function bestFirst<Item extends { score: number }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => b.score - a.score);
}

/**
 * Greedy non-maximum suppression within each class: drops the weaker of two items of a class whose intersection over union
 * exceeds `overlap`. Source: torchvision's `batched_nms`.
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
 * Fast non-maximum suppression within each class: drops an item that any better item of its class overlaps by `overlap` or
 * more, even if that item is dropped too.
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
