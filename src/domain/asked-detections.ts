/** The rules by which detections follow what a request asked for. Live mode and the fixtures of test mode share them. */

/** The side of the vehicle that a view shows, for the views that show one side only. */
const SIDE_OF_VIEW: Readonly<Record<string, 'left' | 'right' | undefined>> = {
  left: 'left',
  front_left: 'left',
  rear_left: 'left',
  right: 'right',
  front_right: 'right',
  rear_right: 'right',
};

interface Detection {
  part: string | null;
  side: 'left' | 'right' | 'none' | null;
  confidence: number;
}

interface Asked {
  min_confidence?: number;
  /** A value of VIEWS. */
  view_hint?: string;
  parts?: readonly string[];
}

/** Keeps the confident detections of the chosen parts, and settles the sides of parts that the picture left open. */
export function askedDetections<Item extends Detection>(items: readonly Item[], asked: Asked): Item[] {
  const { min_confidence = 0, view_hint = '', parts } = asked;
  return items
    .filter(({ confidence }) => confidence >= min_confidence)
    .filter(({ part }) => !parts || (part !== null && parts.includes(part)))
    .map((item) => (item.part === null ? item : { ...item, side: item.side ?? SIDE_OF_VIEW[view_hint] ?? null }));
}
