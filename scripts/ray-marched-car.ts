/**
 * A car of signed distance functions, drawn by ray marching, so the picture coordinates of each of its points are known
 * exactly. `draw-fixtures-render.ts` draws its pictures with it. Lengths are in metres; x points forward, y to the car's
 * left, z up; the origin lies on the ground under the centre of the car.
 */
export type Vector = readonly [x: number, y: number, z: number];
type Color = readonly [red: number, green: number, blue: number];
type Outline = readonly (readonly [number, number])[];

export interface Camera {
  width: number;
  height: number;
  /** Clockwise from above: 0 in front of the car, 90 at its right side. */
  azimuthDegrees: number;
  elevationDegrees: number;
  distance: number;
  rollDegrees?: number;
}

export interface Look {
  damaged?: boolean;
  /** Brightness of a plate from 0 to 1 at (u, v), each from 0 to 1 in reading orientation. */
  plate?: (across: number, down: number) => number;
  samples?: number;
}

export interface Shot {
  /** RGBA: the car without its surroundings. */
  car: Buffer;
  /** RGBA: the car's shadow on the ground, as black with alpha. */
  shadow: Buffer;
}

const TARGET: Vector = [0, 0, 0.62];
const FIELD_OF_VIEW_DEGREES = 34;
const WHEELS = { front: 1.34, rear: -1.32, height: 0.33, radius: 0.33 };
const ARCH_RADIUS = 0.395;
const PLATE = { halfWidth: 0.26, halfHeight: 0.056 };
const PLATES = { front: { x: 2.2, z: 0.43 }, rear: { x: -2.17, z: 0.62 } };

/** The position of each damage: its centre, and for the scratch its other end. */
export const DAMAGES = {
  scratch: { from: [0.52, 0.9, 0.6] as Vector, to: [-0.12, 0.9, 0.69] as Vector },
  dent: { at: [-0.74, 0.9, 0.58] as Vector, radius: 0.15 },
  scuff: { at: [-2.0, -0.66, 0.42] as Vector, radius: 0.17 },
};

const clamp = (value: number, low = 0, high = 1) => Math.min(high, Math.max(low, value));
const mix = (a: number, b: number, t: number) => a + (b - a) * t;
const toRadians = (degrees: number) => (degrees * Math.PI) / 180;
const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const along = (from: Vector, direction: Vector, length: number): Vector => [
  from[0] + direction[0] * length,
  from[1] + direction[1] * length,
  from[2] + direction[2] * length,
];
const unit = (v: Vector): Vector => along([0, 0, 0], v, 1 / Math.hypot(...v));
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const blend = (a: Color, b: Color, t: number): Color => [mix(a[0], b[0], t), mix(a[1], b[1], t), mix(a[2], b[2], t)];

/** Smooths an outline by corner cutting. */
function smoothed(outline: Outline, rounds = 2): Outline {
  if (rounds === 0) return outline;
  const cut = outline.flatMap(([x, y], index) => {
    const [nextX, nextY] = outline[(index + 1) % outline.length] ?? [x, y];
    return [
      [x * 0.75 + nextX * 0.25, y * 0.75 + nextY * 0.25],
      [x * 0.25 + nextX * 0.75, y * 0.25 + nextY * 0.75],
    ] as const;
  });
  return smoothed(cut, rounds - 1);
}

/** Signed distance to an outline: negative inside. */
function distanceToOutline(outline: Outline, px: number, py: number): number {
  let nearest = Number.POSITIVE_INFINITY;
  let inside = false;
  for (const [index, [x, y]] of outline.entries()) {
    const [x0, y0] = outline.at(index - 1) ?? [x, y];
    const [dx, dy] = [x - x0, y - y0];
    const t = clamp(((px - x0) * dx + (py - y0) * dy) / (dx * dx + dy * dy || 1));
    nearest = Math.min(nearest, Math.hypot(px - x0 - t * dx, py - y0 - t * dy));
    if (y > py !== y0 > py && px < ((x0 - x) * (py - y)) / (y0 - y) + x) inside = !inside;
  }
  return inside ? -nearest : nearest;
}

/** Distance to an outline, interpolated on a grid of one centimetre. */
function profile(outline: Outline): (x: number, y: number) => number {
  const [step, x0, y0, columns, rows] = [0.01, -2.8, -1.3, 560, 340];
  const grid = new Float32Array(columns * rows);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      grid[row * columns + column] = distanceToOutline(outline, x0 + column * step, y0 + row * step);
    }
  }
  return (x, y) => {
    const [u, v] = [clamp((x - x0) / step, 0, columns - 1.001), clamp((y - y0) / step, 0, rows - 1.001)];
    const [column, row] = [Math.floor(u), Math.floor(v)];
    const [s, t, at] = [u - column, v - row, row * columns + column];
    const value = (offset: number) => grid[at + offset] ?? 0;
    const [top, bottom] = [value(0) * (1 - s) + value(1) * s, value(columns) * (1 - s) + value(columns + 1) * s];
    return top * (1 - t) + bottom * t;
  };
}

/** Parses points in SVG notation. */
const outline = (points: string): Outline =>
  points.split(' ').map((pair) => {
    const [x = 0, y = 0] = pair.split(',').map(Number);
    return [x, y] as const;
  });

const mirrored = (half: Outline): Outline => [...half, ...half.map(([a, b]) => [a, -b] as const).reverse()];

const fromTheSide = profile(
  smoothed(
    outline(
      '2.2,0.2 2.26,0.5 2.2,0.7 2.02,0.8 1.5,0.9 0.98,0.96 0.7,1.14 0.2,1.42 -0.3,1.49 -1.1,1.46 -1.62,1.32 -1.95,1.02 -2.12,0.96 -2.2,0.62 -2.18,0.24 -1.9,0.18 1.9,0.18',
    ),
  ),
);
const fromAbove = profile(
  smoothed(mirrored(outline('2.26,0.3 2.2,0.62 1.95,0.84 1.3,0.91 -1.3,0.91 -1.95,0.86 -2.2,0.7 -2.24,0.3'))),
);
const fromTheFront = profile(
  smoothed(mirrored(outline('0.16,0.7 0.22,0.86 0.5,0.9 0.72,0.94 0.93,0.89 1.02,0.82 1.36,0.64 1.52,0.52'))),
);
const sideWindow = outline('0.84,0.985 0.55,1.16 0.2,1.33 -0.25,1.39 -0.95,1.38 -1.42,1.29 -1.7,1.06 -1.62,1.0');
const sideWindowDistance = profile(sideWindow);

function smoothMaximum(a: number, b: number, radius: number): number {
  const h = Math.max(radius - Math.abs(a - b), 0) / radius;
  return Math.max(a, b) + h * h * radius * 0.25;
}

function box(dx: number, dy: number, dz: number, rounding: number): number {
  const outside = Math.hypot(Math.max(dx, 0), Math.max(dy, 0), Math.max(dz, 0));
  return outside + Math.min(Math.max(dx, dy, dz), 0) - rounding;
}

const wheelAt = (x: number) => (x > 0 ? WHEELS.front : WHEELS.rear);

/** Distances to the parts that differ by shape; other parts differ by position. */
function distances(x: number, y: number, z: number) {
  const side = Math.abs(y);
  const toWheel = Math.hypot(x - wheelAt(x), z - WHEELS.height);
  const hull = smoothMaximum(smoothMaximum(fromTheSide(x, z), fromTheFront(z, side), 0.1), fromAbove(x, side), 0.12);
  const arch = Math.max(toWheel - ARCH_RADIUS, 0.58 - side);
  const wheel = box(toWheel - WHEELS.radius + 0.03, Math.abs(side - 0.77) - 0.08, -1, 0.03);
  const dish = Math.max(toWheel - 0.225, 0.835 - side);
  const mirror = (Math.hypot((x - 0.66) / 0.1, (side - 1.0) / 0.12, (z - 1.02) / 0.075) - 1) * 0.07;
  const plateOf = ({ x: at, z: height }: { x: number; z: number }) =>
    box(Math.abs(x - at) - 0.02, side - PLATE.halfWidth, Math.abs(z - height) - PLATE.halfHeight, 0.002);
  return {
    body: Math.min(smoothMaximum(hull, -arch, 0.03), mirror),
    wheel: smoothMaximum(wheel, -dish, 0.01),
    plate: Math.min(plateOf(PLATES.front), plateOf(PLATES.rear)),
  };
}

function distance(x: number, y: number, z: number): number {
  const { body, wheel, plate } = distances(x, y, z);
  return Math.min(body, wheel, plate);
}

function normalAt([x, y, z]: Vector, { damaged = false }: Look): Vector {
  const e = 0.002;
  const normal = unit([
    distance(x + e, y, z) - distance(x - e, y, z),
    distance(x, y + e, z) - distance(x, y - e, z),
    distance(x, y, z + e) - distance(x, y, z - e),
  ]);
  const { at, radius } = DAMAGES.dent;
  const [dx, dz] = [(x - at[0]) / radius, (z - at[2]) / radius];
  const depth = dx * dx + dz * dz;
  if (!damaged || y < 0.5 || depth > 1) return normal;
  const slope = 2.2 * (1 - depth) * Math.sqrt(depth);
  return unit([normal[0] - dx * slope, normal[1], normal[2] - dz * slope]);
}

/** Distance from a point along a direction to the car, or null. */
function march(from: Vector, direction: Vector): number | null {
  let length = 0;
  for (let step = 0; step < 140 && length < 12; step += 1) {
    const [x, y, z] = along(from, direction, length);
    if (z < 0 && direction[2] < 0) return null;
    const gap = distance(x, y, z);
    if (gap < 0.0012) return length;
    length += gap * 0.85;
  }
  return null;
}

interface Material {
  color: Color;
  /** Reflectivity from 0 to 1. */
  gloss: number;
}

const PAINT: Material = { color: [0.03, 0.14, 0.36], gloss: 0.85 };
const GLASS: Material = { color: [0.012, 0.016, 0.02], gloss: 0.6 };
const TRIM: Material = { color: [0.025, 0.027, 0.03], gloss: 0.15 };
const CHROME: Material = { color: [0.6, 0.62, 0.65], gloss: 0.9 };
const RED: Material = { color: [0.5, 0.02, 0.03], gloss: 0.7 };
const LAMP: Material = { color: [0.72, 0.76, 0.8], gloss: 0.9 };
const BARE: Material = { color: [0.62, 0.63, 0.64], gloss: 0.1 };

function materialAt([x, y, z]: Vector, normal: Vector, look: Look): Material {
  const parts = distances(x, y, z);
  if (parts.plate < 0.004) return plateMaterial(x, y, z, look);
  if (parts.wheel < parts.body) return wheelMaterial(x, y, z);
  const side = Math.abs(y);
  if (side > 0.93 && z > 0.95) return PAINT;
  const toWheel = Math.hypot(x - wheelAt(x), z - WHEELS.height);
  if (toWheel < ARCH_RADIUS + 0.012 || z < 0.235) return TRIM;
  const damage = look.damaged ? damageMaterial(x, y, z) : null;
  if (damage) return damage;
  if (z > 0.96) return cabinMaterial(x, side, z, normal);
  if (x > 1.7 && normal[0] > 0.25) return frontMaterial(side, z);
  if (x < -1.75 && normal[0] < -0.2) return rearMaterial(side, z);
  if (Math.abs(normal[1]) > 0.5) return sideMaterial(x, z);
  const isHoodGap = x > 0.95 && normal[2] > 0.4 && Math.abs(side - 0.73) < 0.006;
  return isHoodGap ? TRIM : PAINT;
}

function damageMaterial(x: number, y: number, z: number): Material | null {
  const { from, to } = DAMAGES.scratch;
  if (y > 0.5) {
    const t = (x - from[0]) / (to[0] - from[0]);
    const wander = 0.012 * Math.sin(t * 9) + (t > 0.55 ? 0.012 : 0);
    if (t > 0 && t < 1 && Math.abs(z - mix(from[2], to[2], t) - wander) < 0.009) return BARE;
  }
  const { at, radius } = DAMAGES.scuff;
  if (Math.hypot(x - at[0], y - at[1], z - at[2]) > radius) return null;
  return Math.sin(z * 190 + Math.sin((x + y) * 40) * 3) > 0.1 ? BARE : null;
}

function cabinMaterial(x: number, side: number, z: number, normal: Vector): Material {
  if (Math.abs(normal[1]) > 0.55) {
    const gap = sideWindowDistance(x, z);
    if (gap > 0.02) return PAINT;
    return gap > 0 || Math.abs(x + 0.33) < 0.04 ? TRIM : GLASS;
  }
  const pane = 0.72 - (z - 0.96) * 0.36;
  const isFront = normal[0] > 0.2 && x > 0.1 && z < 1.4;
  const isRear = normal[0] < -0.2 && x < -1.35 && z > 1.03 && z < 1.37;
  if ((isFront || isRear) && side < pane) return side > pane - 0.025 || z < 0.99 ? TRIM : GLASS;
  return PAINT;
}

function frontMaterial(side: number, z: number): Material {
  if (side > 0.47 && z > 0.585 + (side - 0.47) * 0.16 && z < 0.7 + (side - 0.47) * 0.14) {
    return side < 0.485 || Math.hypot(side - 0.66, z - 0.66) > 0.035 ? LAMP : CHROME;
  }
  if (Math.hypot(side, z - 0.63) < 0.05) return CHROME;
  if (side < 0.44 && z > 0.555 && z < 0.7) return Math.sin(z * 190) > 0.2 ? { ...CHROME, gloss: 0.4 } : TRIM;
  if (side < 0.62 && z > 0.25 && z < 0.34) return TRIM;
  if (side > 0.64 && side < 0.78 && z > 0.28 && z < 0.36) return LAMP;
  return Math.abs(z - 0.735) < 0.006 ? TRIM : PAINT;
}

function rearMaterial(side: number, z: number): Material {
  if (side > 0.45 && z > 0.72 + (side - 0.45) * 0.1 && z < 0.9) return RED;
  if (side < 0.34 && z > 0.54 && z < 0.71) return { ...PAINT, color: [0.03, 0.13, 0.3] };
  if (z < 0.34) return TRIM;
  const isGap = Math.abs(z - 0.5) < 0.006 || (Math.abs(side - 0.44) < 0.006 && z > 0.5);
  return isGap ? TRIM : PAINT;
}

function sideMaterial(x: number, z: number): Material {
  const isHandle = z > 0.815 && z < 0.845 && ((x > -0.26 && x < -0.07) || (x > -1.12 && x < -0.94));
  if (isHandle) return CHROME;
  const rearEdge = Math.hypot(x - WHEELS.rear, z - WHEELS.height) - 0.47;
  const isGap =
    (Math.abs(x - 0.86) < 0.006 && z > 0.3) ||
    (Math.abs(x + 0.33) < 0.006 && z > 0.3) ||
    (Math.abs(x + 1.28) < 0.006 && z > 0.8) ||
    (Math.abs(rearEdge) < 0.006 && z > 0.3 && z < 0.8 && x > -1.28) ||
    (Math.abs(z - 0.3) < 0.006 && x > -0.86 && x < 0.86) ||
    (Math.abs(x - 1.78) < 0.005 && z < 0.7) ||
    (Math.abs(x + 1.8) < 0.005 && z < 0.66);
  if (isGap) return TRIM;
  return x < -1.62 && z > 0.74 && z < 0.9 ? RED : x > 1.72 && z > 0.62 && z < 0.75 ? LAMP : PAINT;
}

function wheelMaterial(x: number, y: number, z: number): Material {
  const [dx, dz] = [x - wheelAt(x), z - WHEELS.height];
  const radius = Math.hypot(dx, dz);
  if (radius > 0.228 || Math.abs(y) < 0.7) return { color: [0.02, 0.02, 0.022], gloss: 0.05 };
  const spoke = Math.abs((((Math.atan2(dz, dx) / (2 * Math.PI)) * 5 + 10) % 1) - 0.5);
  const isMetal = radius > 0.205 || radius < 0.06 || spoke < 0.16;
  return isMetal ? { color: [0.5, 0.52, 0.54], gloss: 0.5 } : { color: [0.03, 0.03, 0.035], gloss: 0.1 };
}

function plateMaterial(x: number, y: number, z: number, { plate }: Look): Material {
  const isFront = x > 0;
  const across = ((isFront ? y : -y) + PLATE.halfWidth) / (2 * PLATE.halfWidth);
  const down = (PLATES[isFront ? 'front' : 'rear'].z + PLATE.halfHeight - z) / (2 * PLATE.halfHeight);
  const light = plate?.(clamp(across), clamp(down)) ?? 0.85;
  return { color: [light, light, light * 0.97], gloss: 0.05 };
}

/** The reflected environment in a direction: a bright sky with a soft light, and the ground below. */
function surroundings([x, y, z]: Vector): Color {
  if (z < 0) return blend([0.42, 0.43, 0.44], [0.2, 0.2, 0.21], clamp(-z * 2.5));
  const sky = blend([0.86, 0.9, 0.95], [0.36, 0.5, 0.7], clamp(z * 1.3));
  const skyline = z < 0.1 + 0.04 * Math.sin(Math.atan2(y, x) * 7) ? 0.55 : 1;
  return blend(blend([0, 0, 0], sky, skyline), [1.25, 1.25, 1.22], clamp((z - 0.72) * 5) * 0.75);
}

const SUN = unit([0.3, 0.25, 0.9]);

function shade(point: Vector, direction: Vector, look: Look): Color {
  const normal = normalAt(point, look);
  const { color, gloss } = materialAt(point, normal, look);
  const facing = clamp(-dot(normal, direction));
  const mirrored = along(direction, normal, -2 * dot(direction, normal));
  const openness = clamp(0.35 + (distance(...along(point, normal, 0.25)) / 0.25) * 0.65);
  const sky = 0.55 + 0.45 * normal[2];
  const light = openness * (0.12 + 0.55 * sky + 0.95 * clamp(dot(normal, SUN)) ** 1.2);
  const mirror = gloss * mix(0.07, 0.9, (1 - facing) ** 3) * mix(0.5, 1, openness);
  const glint = gloss * 0.7 * clamp(dot(mirrored, SUN)) ** 60;
  const lit: Color = [color[0] * light, color[1] * light, color[2] * light];
  const [red, green, blue] = blend(lit, surroundings(mirrored), mirror);
  return [red + glint, green + glint, blue + glint];
}

/** Darkness of the ground under and beside the car. */
function shadowAt(x: number, y: number): number {
  if (Math.abs(x) > 3.2 || Math.abs(y) > 2.2) return 0;
  const heights = [0.05, 0.15, 0.3, 0.5, 0.75];
  const hidden = heights.reduce((sum, height) => sum + clamp(1 - distance(x, y, height) / (height * 0.75 + 0.08)), 0);
  return clamp((hidden / heights.length) * 1.3) ** 1.3 * 0.82;
}

function frameOf({ azimuthDegrees, elevationDegrees, distance: length, rollDegrees = 0, width, height }: Camera) {
  const [azimuth, elevation, roll] = [azimuthDegrees, elevationDegrees, rollDegrees].map(toRadians) as [
    number,
    number,
    number,
  ];
  const away: Vector = [
    Math.cos(azimuth) * Math.cos(elevation),
    -Math.sin(azimuth) * Math.cos(elevation),
    Math.sin(elevation),
  ];
  const eye = along(TARGET, away, length);
  const forward = along([0, 0, 0], away, -1);
  const level = unit(cross(forward, [0, 0, 1]));
  const upright = cross(level, forward);
  const right = along(along([0, 0, 0], level, Math.cos(roll)), upright, Math.sin(roll));
  const up = cross(right, forward);
  const scale = width / 2 / Math.tan(toRadians(FIELD_OF_VIEW_DEGREES) / 2);
  return { eye, forward, right, up, scale, centerX: width / 2, centerY: height / 2 };
}

/** Projects a point to pixels of the picture, with its distance from the camera. */
export function project(camera: Camera, point: Vector): { x: number; y: number; depth: number } {
  const { eye, forward, right, up, scale, centerX, centerY } = frameOf(camera);
  const to = along(point, eye, -1);
  const depth = dot(to, forward);
  return { x: centerX + (dot(to, right) / depth) * scale, y: centerY - (dot(to, up) / depth) * scale, depth };
}

/** How squarely the camera sees a point of the car: 1 straight on, 0 if hidden. */
export function visibility(camera: Camera, point: Vector): number {
  const { eye } = frameOf(camera);
  const direction = unit(along(point, eye, -1));
  const length = march(eye, direction);
  const isSeen = length !== null && Math.hypot(...along(point, eye, -1)) - length < 0.08;
  return isSeen ? clamp(-dot(normalAt(point, {}), direction)) : 0;
}

/** The nearest point of the car's surface. */
export function onSurface(point: Vector): Vector {
  let found = point;
  for (let step = 0; step < 40; step += 1) found = along(found, normalAt(found, {}), -distance(...found));
  return found;
}

/** Corners of the plate on one end of the car, in reading orientation from the top left. */
export function plateCorners(end: 'front' | 'rear'): Vector[] {
  const { x, z } = PLATES[end];
  const { halfWidth, halfHeight } = PLATE;
  const face = x + (x > 0 ? 0.022 : -0.022);
  const left = x > 0 ? -halfWidth : halfWidth;
  return [
    [face, left, z + halfHeight],
    [face, -left, z + halfHeight],
    [face, -left, z - halfHeight],
    [face, left, z - halfHeight],
  ];
}

export function draw(camera: Camera, look: Look = {}): Shot {
  const { width, height } = camera;
  const { samples = 3 } = look;
  const { eye, forward, right, up, scale, centerX, centerY } = frameOf(camera);
  const [car, shadow] = [Buffer.alloc(width * height * 4), Buffer.alloc(width * height * 4)];
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const [column, row] = [pixel % width, Math.floor(pixel / width)];
    let [red, green, blue, seen, dark] = [0, 0, 0, 0, 0];
    for (let sample = 0; sample < samples * samples; sample += 1) {
      const dx = (column + ((sample % samples) + 0.5) / samples - centerX) / scale;
      const dy = (row + (Math.floor(sample / samples) + 0.5) / samples - centerY) / scale;
      const direction = unit(along(along(forward, right, dx), up, -dy));
      const length = march(eye, direction);
      if (length === null) {
        const toGround = -eye[2] / direction[2];
        if (toGround > 0) dark += shadowAt(eye[0] + direction[0] * toGround, eye[1] + direction[1] * toGround);
        continue;
      }
      const color = shade(along(eye, direction, length), direction, look);
      red += color[0];
      green += color[1];
      blue += color[2];
      seen += 1;
    }
    const total = samples * samples;
    if (seen > 0)
      car.set([encode(red / seen), encode(green / seen), encode(blue / seen), (255 * seen) / total], pixel * 4);
    // Under the car's soft edge the shadow goes on.
    if (seen < total) shadow[pixel * 4 + 3] = Math.round((255 * dark) / (total - seen));
  }
  return { car, shadow };
}

/** Converts linear light to sRGB. */
const encode = (light: number) => Math.round(255 * clamp(light) ** (1 / 2.2));
