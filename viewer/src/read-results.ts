/** Results of the service → what the components show. Pure, without the DOM. */

export interface SpinFrame {
  url: string;
  /** Camera position around the vehicle: 0 is its front, 90 its right side. */
  azimuthDegrees: number;
  /** Such as `front_left`. */
  view: string;
}

export interface Spin {
  frames: readonly SpinFrame[];
  startIndex: number;
  /** Of every frame, in pixels. */
  width: number;
  height: number;
}

/** Normalised: shares of the width and height of the picture. */
export interface Place {
  x: number;
  y: number;
  /** 0 to 1: how squarely the camera sees it. */
  prominence: number;
}

export interface Hotspot {
  id: string;
  kind: string;
  label: string;
  /** Such as `minor`; null unless it is a graded damage. */
  severity: string | null;
  /** By the index of the frame; 0 for a single picture. */
  places: ReadonlyMap<number, Place>;
  /** The frame that shows it best. */
  bestIndex: number;
}

export class UnknownResultError extends Error {}

type Fields = Readonly<Record<string, unknown>>;

/**
 * @param value a `render.360` result, or the job that contains it
 * @throws UnknownResultError
 */
export function readSpin(value: unknown): Spin {
  const { frames, start_frame_index } = resultIn(value);
  const read = listOf(frames).flatMap(({ image, azimuth_degrees, view }) => {
    const { url, width, height } = fieldsOf(image);
    if (typeof url !== 'string' || !/^https?:/.test(url)) return [];
    return [{ url, azimuthDegrees: numberOf(azimuth_degrees), view: String(view), width, height }];
  });
  const [first] = read;
  if (!first || read.length < listOf(frames).length) throw new UnknownResultError('This is no result of render.360.');
  return {
    frames: read.map(({ url, azimuthDegrees, view }) => ({ url, azimuthDegrees, view })),
    startIndex: Math.min(read.length - 1, Math.max(0, Math.trunc(numberOf(start_frame_index)))),
    width: numberOf(first.width) || 3,
    height: numberOf(first.height) || 2,
  };
}

/**
 * @param value a result of `viewer.hotspots` or `render.hotspots`, or the job that contains it
 * @returns in its order, without hotspots on no frame
 * @throws UnknownResultError
 */
export function readHotspots(value: unknown): Hotspot[] {
  const { hotspots, frames } = resultIn(value);
  if (!Array.isArray(hotspots))
    throw new UnknownResultError('This is no result of viewer.hotspots or render.hotspots.');
  const shown = listOf(frames).flatMap((frame) =>
    listOf(frame.hotspots).map((place): Fields => ({ ...place, frame_index: frame.frame_index })),
  );
  return listOf(hotspots).flatMap((hotspot) => {
    const own = shown.filter(({ hotspot_id }) => hotspot_id === hotspot.id);
    const places = new Map([...listOf(hotspot.placements), ...own].map(placeOf));
    const [best] = [...places].sort(([, a], [, b]) => b.prominence - a.prominence);
    if (!best) return [];
    const { value: severity } = fieldsOf(fieldsOf(hotspot.damage).severity);
    return [
      {
        id: String(hotspot.id),
        kind: String(hotspot.kind),
        label: String(hotspot.label),
        severity: typeof severity === 'string' ? severity : null,
        places,
        bestIndex: best[0],
      },
    ];
  });
}

function placeOf(place: Fields): [number, Place] {
  const x = numberOf(place.x_normalized);
  return [numberOf(place.frame_index), { x, y: numberOf(place.y_normalized), prominence: numberOf(place.prominence) }];
}

/** The result of a job, or the value itself. */
function resultIn(value: unknown): Fields {
  const fields = fieldsOf(value);
  return fields.object === 'job' ? fieldsOf(fields.result) : fields;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** The shorter way round a circle of `count` frames: negative is counterclockwise. */
export function shortestWay(from: number, to: number, count: number): number {
  const forward = (((to - from) % count) + count) % count;
  return forward <= count / 2 ? forward : forward - count;
}

/** The order in which to load frames: the first shown, then coarse steps round the vehicle, then what is between them. */
export function loadingOrder(count: number, startIndex: number): number[] {
  const order: number[] = [];
  for (const step of [8, 4, 2, 1]) {
    for (let offset = 0; offset < count; offset += step) {
      const index = (startIndex + offset) % count;
      if (!order.includes(index)) order.push(index);
    }
  }
  return order;
}
