/** Applies the parameters of a request to detections. Live mode and test mode share it. */

/** The side of the vehicle that a view shows. Views that show both sides are absent. */
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

interface Requested {
  min_confidence?: number;
  /** A value of VIEWS. */
  view_hint?: string;
  parts?: readonly string[];
}

/** Keeps the confident detections of the chosen parts and resolves unknown sides from the view hint. */
export function requestedDetections<Item extends Detection>(items: readonly Item[], requested: Requested): Item[] {
  const { min_confidence = 0, view_hint = '', parts } = requested;
  return items
    .filter(({ confidence }) => confidence >= min_confidence)
    .filter(({ part }) => !parts || (part !== null && parts.includes(part)))
    .map((item) => (item.part === null ? item : { ...item, side: item.side ?? SIDE_OF_VIEW[view_hint] ?? null }));
}
