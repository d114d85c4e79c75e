/**
 * What a result says about places in the pictures, whatever its endpoint: every bounding box, quad, polygon and hotspot, and
 * every file that it refers to. Coordinates are pixels of the picture as displayed; those of hotspots are fractions.
 */

export interface Point {
  x: number;
  y: number;
}

export interface Shape {
  id: string;
  kind: 'box' | 'quad' | 'polygon' | 'point';
  /** Index of the picture in the request. */
  imageIndex: number;
  /** Path of the file of the result that shows it, such as `key_frames.0.image`; null: a picture of the request. */
  on: string | null;
  label: string;
  confidence: number | null;
  points: Point[];
  /** Whether the points are fractions of width and height in place of pixels. */
  isNormalized: boolean;
  /** Shapes of one thing have the same one. */
  group: number;
}

export interface FileOfResult {
  /** Where it is in the result, such as `parts.0.cut_out`. */
  path: string;
  /** The last name of the path. */
  name: string;
  /** For people, such as `front door, left: cut out`. */
  label: string;
  imageIndex: number;
  on: string | null;
  media_type: string;
  url: string;
  expires_at: number;
}

export interface Places {
  shapes: Shape[];
  files: FileOfResult[];
}

export type Fields = Readonly<Record<string, unknown>>;

/** Fields that name a thing, the most telling first. */
export const NAMES = [
  'label',
  'text',
  'part',
  'type',
  'character',
  'mark',
  'operation',
  'code',
  'class',
  'name',
  'value',
  'kind',
  'position',
  'id',
  'damage_id',
  'hotspot_id',
];

/** What encloses a value. */
interface Around {
  imageIndex: number;
  on: string | null;
  /** What the object is called. */
  label: string | null;
  /** The same, or where it is; null at the top. */
  title: string | null;
}

export function findPlaces(result: unknown): Places {
  const places: Places = { shapes: [], files: [] };
  let groups = 0;

  function visit(value: unknown, path: string[], around: Around): void {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...path, String(index)], around);
      return;
    }
    if (!isFields(value)) return;
    if (value.object === 'artefact' && typeof value.url === 'string') {
      const { media_type, url, expires_at } = value as unknown as FileOfResult;
      const { imageIndex, on, title } = around;
      const [name, called] = [nameIn(path), titleOf(path)];
      const label = title === null ? called : `${title}: ${called}`;
      places.files.push({ path: path.join('.'), name, label, imageIndex, on, media_type, url, expires_at });
      return;
    }
    // What is said of one frame of several is drawn on that frame.
    const on = isItem(path) && isArtefact(value.image) ? [...path, 'image'].join('.') : around.on;
    const imageIndex = indexOf(value) ?? around.imageIndex;
    const own = labelOf(value);
    // The places of one thing are called as the thing is.
    const label = own ?? (isItem(path) ? around.label : null) ?? nameOf(value, path);
    const found = shapesOf(value);
    if (found.length > 0) {
      const group = groups;
      groups += 1;
      const confidence = typeof value.confidence === 'number' ? value.confidence : null;
      for (const [position, shape] of found.entries()) {
        places.shapes.push({ id: `${path.join('.')}#${position}`, imageIndex, on, label, confidence, group, ...shape });
      }
    }
    const title = own ?? (path.length === 0 ? null : titleOf(path, value));
    for (const [name, item] of Object.entries(value))
      visit(item, [...path, name], { imageIndex, on, label: own, title });
  }

  visit(result, [], { imageIndex: 0, on: null, label: null, title: null });
  // The smaller ones on top, where they can be reached.
  return { ...places, shapes: places.shapes.toSorted((a, b) => extentOf(b) - extentOf(a)) };
}

/** The area of the box around a shape. */
function extentOf({ points }: Shape): number {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  return (Math.max(...xs) - Math.min(...xs)) * (Math.max(...ys) - Math.min(...ys));
}

/** The outline where there is one, and otherwise the box around it. */
function shapesOf(value: Fields): Pick<Shape, 'kind' | 'points' | 'isNormalized'>[] {
  const isNormalized = false;
  if (isPoints(value.quad)) return [{ kind: 'quad', points: value.quad, isNormalized }];
  if (isPoints(value.polygon)) return [{ kind: 'polygon', points: value.polygon, isNormalized }];
  const { polygons } = value;
  if (Array.isArray(polygons) && polygons.length > 0 && polygons.every(isPoints)) {
    return polygons.map((points) => ({ kind: 'polygon', points, isNormalized }));
  }
  const box = value.bbox ?? value.vehicle_bbox;
  if (isFields(box)) {
    const { x, y, width, height } = box as unknown as { x: number; y: number; width: number; height: number };
    const points = [
      { x, y },
      { x: x + width, y },
      { x: x + width, y: y + height },
      { x, y: y + height },
    ];
    return [{ kind: 'box', points, isNormalized }];
  }
  if (typeof value.x_normalized === 'number' && typeof value.y_normalized === 'number') {
    return [{ kind: 'point', points: [{ x: value.x_normalized, y: value.y_normalized }], isNormalized: true }];
  }
  return [];
}

function indexOf(value: Fields): number | null {
  const index = value.image_index ?? value.frame_index;
  return typeof index === 'number' ? index : null;
}

/** A name for what has none: a sighting from the rear is a `sighting, rear`. */
function nameOf(value: Fields, path: readonly string[]): string {
  const name = (isItem(path) ? nameIn(path).replace(/s$/, '') : nameIn(path)).replaceAll('_', ' ');
  const seenFrom = value.view ?? value.side;
  return typeof seenFrom === 'string' ? `${name}, ${seenFrom.replaceAll('_', ' ')}` : name;
}

/** The same with its place in its list, where nothing else tells it from the others. */
function titleOf(path: readonly string[], value: Fields = {}): string {
  const isAlike = isItem(path) && typeof value.view !== 'string';
  return nameOf(value, path) + (isAlike ? ` ${Number(path.at(-1)) + 1}` : '');
}

export function labelOf(value: Fields): string | null {
  // A field of a document with what it says.
  if (typeof value.name === 'string' && (typeof value.value === 'string' || typeof value.value === 'number')) {
    return `${value.name.replaceAll('_', ' ')}: ${value.value}`;
  }
  // What is wrong with which part.
  if (typeof value.type === 'string' && typeof value.part === 'string') {
    return `${value.type.replaceAll('_', ' ')}, ${labelOf({ part: value.part, side: value.side })}`;
  }
  for (const name of NAMES) {
    const given = value[name];
    const text = isFields(given) ? given.value : given;
    if (typeof text === 'string' || typeof text === 'number') {
      const side = typeof value.side === 'string' && value.side !== 'none' ? `, ${value.side}` : '';
      const unit = typeof value.unit === 'string' ? ` ${value.unit}` : '';
      return `${String(text).replaceAll('_', ' ')}${unit}${name === 'part' ? side : ''}`;
    }
  }
  return null;
}

const isItem = (path: readonly string[]) => /^\d+$/.test(path.at(-1) ?? '');

const isArtefact = (value: unknown): boolean => isFields(value) && value.object === 'artefact';

const nameIn = (path: readonly string[]) => path.findLast((name) => !/^\d+$/.test(name)) ?? 'result';

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPoints = (value: unknown): value is Point[] =>
  Array.isArray(value) &&
  value.length >= 3 &&
  value.every((point) => isFields(point) && typeof point.x === 'number' && typeof point.y === 'number');

/** Distinct on light and dark pictures. */
const COLOURS = [
  '#ff6b6b',
  '#4dabf7',
  '#69db7c',
  '#ffd43b',
  '#da77f2',
  '#3bc9db',
  '#ffa94d',
  '#f783ac',
  '#a9e34b',
  '#748ffc',
];

/** Of the shapes of one thing. */
export const colourOf = (group: number) => COLOURS[group % COLOURS.length] ?? '#ff6b6b';

export function describeShape({ label, confidence }: Shape): string {
  return confidence === null ? label : `${label} (${Math.round(confidence * 100)} %)`;
}
