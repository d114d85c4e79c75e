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
  imageIndex: number;
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

export function findPlaces(result: unknown): Places {
  const places: Places = { shapes: [], files: [] };
  let groups = 0;

  function visit(value: unknown, path: string[], imageIndex: number): void {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...path, String(index)], imageIndex);
      return;
    }
    if (!isFields(value)) return;
    if (value.object === 'artefact' && typeof value.url === 'string') {
      const { media_type, url, expires_at } = value as unknown as FileOfResult;
      places.files.push({ path: path.join('.'), name: nameIn(path), imageIndex, media_type, url, expires_at });
      return;
    }
    const index = indexOf(value) ?? imageIndex;
    const found = shapesOf(value);
    if (found.length > 0) {
      const group = groups;
      groups += 1;
      for (const [position, { kind, points, isNormalized }] of found.entries()) {
        places.shapes.push({
          id: `${path.join('.')}#${position}`,
          kind,
          imageIndex: index,
          label: labelOf(value) ?? nameOf(value, path),
          confidence: typeof value.confidence === 'number' ? value.confidence : null,
          points,
          isNormalized,
          group,
        });
      }
    }
    for (const [name, item] of Object.entries(value)) visit(item, [...path, name], index);
  }

  visit(result, [], 0);
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
  if (isFields(value.bbox)) {
    const { x, y, width, height } = value.bbox as unknown as { x: number; y: number; width: number; height: number };
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
  const isItem = /^\d+$/.test(path.at(-1) ?? '');
  const name = (isItem ? nameIn(path).replace(/s$/, '') : nameIn(path)).replaceAll('_', ' ');
  return typeof value.view === 'string' ? `${name}, ${value.view.replaceAll('_', ' ')}` : name;
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
