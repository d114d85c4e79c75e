/**
 * Finds concentric rings, such as the edges of a wheel: ellipses of one centre and one shape, which is how circles look at an
 * angle. Perspective within the wheel is ignored.
 */

import { clamp } from '../decoding/boxes.ts';
import type { Point } from '../decoding/detections.ts';
import { resample } from './resample.ts';
import { lumaOf, type RgbImage } from './rgb-image.ts';

/** Rings in pixels of the picture. */
export interface Rings {
  center: Point;
  /** Longer axis ÷ shorter axis, 1 for circles. */
  stretch: number;
  /** Direction of the longer axis, in radians, clockwise on the screen. */
  direction: number;
}

export interface FoundRings extends Rings {
  /** Of the ring that most edges lie on. */
  radius: number;
}

/** Something that follows a ring, such as a line of print: its middle, and a unit vector along it. */
export interface Tangent extends Point {
  alongX: number;
  alongY: number;
  length: number;
  /** Compared with that of the others. */
  weight: number;
}

/** A point of the picture in the rings' own plane, where they are circles of the same area. */
export interface RingPlace {
  radius: number;
  /** In radians, clockwise on the screen, from −π to π: 0 is on the right, −π/2 at the top. */
  angle: number;
}

/** [a b; b c] of a symmetric matrix of determinant 1. */
type Symmetric = readonly [a: number, b: number, c: number];

/** From the rings' plane to the picture. */
function shapeOf(stretch: number, direction: number): Symmetric {
  const [long, short] = [Math.sqrt(stretch), 1 / Math.sqrt(stretch)];
  const [cosine, sine] = [Math.cos(direction), Math.sin(direction)];
  return [
    long * cosine ** 2 + short * sine ** 2,
    (long - short) * cosine * sine,
    long * sine ** 2 + short * cosine ** 2,
  ];
}

/** Maps places in the rings' plane to pixels of the picture. */
export function fromRings({ center, stretch, direction }: Rings): (place: RingPlace) => Point {
  const [a, b, c] = shapeOf(stretch, direction);
  return ({ radius, angle }) => {
    const [u, v] = [radius * Math.cos(angle), radius * Math.sin(angle)];
    return { x: center.x + a * u + b * v, y: center.y + b * u + c * v };
  };
}

/** The inverse of `fromRings`. */
export function toRings({ center, stretch, direction }: Rings): (point: Point) => RingPlace {
  const [a, b, c] = shapeOf(1 / stretch, direction);
  return ({ x, y }) => {
    const [dx, dy] = [x - center.x, y - center.y];
    const [u, v] = [a * dx + b * dy, b * dx + c * dy];
    return { radius: Math.hypot(u, v), angle: Math.atan2(v, u) };
  };
}

/** Longer side of the picture in which rings are looked for, in pixels. */
const SIDE = 400;
/** Most edge pixels used, strongest first. */
const MOST_EDGES = 6000;
/** Edge pixels that vote for centres. */
const MOST_VOTERS = 2500;
/** Shapes that are tried: these stretches, in so many directions over half a turn. */
const STRETCHES = [1.15, 1.35, 1.6];
const DIRECTIONS = 6;
/** Side of a cell that votes are counted in. Centres may lie outside the picture by this many times its longer side. */
const CELL = 6;
const OUTSIDE = 1;
/** Candidates that are refined, of either origin. */
const MOST_REFINED = 5;
/** Nearer edges say little of a centre. */
const LEAST_RADIUS = 30;

/** Edge pixels: places, and unit vectors across the edge. */
interface Edges {
  x: Float32Array;
  y: Float32Array;
  acrossX: Float32Array;
  acrossY: Float32Array;
  weight: Float32Array;
  count: number;
}

/**
 * The rings that most edges of the picture lie on; null for a picture without edges.
 * @param tangents in pixels of the picture; where edges leave the choice, the rings follow them
 */
export function findRings(picture: RgbImage, tangents: readonly Tangent[] = []): FoundRings | null {
  const scale = Math.min(1, SIDE / Math.max(picture.width, picture.height));
  const [width, height] = [
    Math.max(3, Math.round(picture.width * scale)),
    Math.max(3, Math.round(picture.height * scale)),
  ];
  const small = resample(picture, { x0: 0, y0: 0, x1: picture.width, y1: picture.height }, width, height);
  const edges = edgesOf(small);
  if (edges.count === 0) return null;
  const scene = {
    edges,
    tangents: tangents.map((each) => ({ ...each, x: each.x * scale, y: each.y * scale, length: each.length * scale })),
  };
  const shapes = [
    { stretch: 1, direction: 0 },
    ...STRETCHES.flatMap((stretch) =>
      Array.from({ length: DIRECTIONS }, (_, step) => ({ stretch, direction: (step * Math.PI) / DIRECTIONS })),
    ),
  ];
  const voted = shapes
    .map((shape) => voteForCenter(edges, shape, Math.max(width, height)))
    .toSorted((one, other) => other.votes - one.votes)
    .slice(0, MOST_REFINED)
    .map(({ rings }) => rings);
  const followed = shapes
    .flatMap((shape) => centersOf(scene.tangents, shape))
    .concat(
      scene.tangents
        .toSorted((one, other) => other.weight - one.weight)
        .slice(0, 2)
        .flatMap(bendsOf),
    )
    .map((rings) => ({ rings, score: scoreOf(scene, rings) }))
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MOST_REFINED)
    .map(({ rings }) => rings);
  const coarse = { ...scene, edges: everyThird(edges) };
  const [rough] = [...voted, ...followed]
    .map((rings) => refine(coarse, rings, { from: 8, to: 2 }))
    .toSorted((one, other) => other.score - one.score);
  if (!rough) return null;
  const { rings } = refine(scene, rough.rings, { from: 2, to: 0.5 });
  const { center, stretch, direction } = rings;
  const radius = supportOf(edges, rings).radius / scale;
  return { center: { x: center.x / scale, y: center.y / scale }, stretch, direction, radius };
}

function everyThird({ count, ...values }: Edges): Edges {
  const third = (all: Float32Array) => all.filter((_, index) => index % 3 === 0);
  return {
    count: Math.ceil(count / 3),
    x: third(values.x),
    y: third(values.y),
    acrossX: third(values.acrossX),
    acrossY: third(values.acrossY),
    weight: third(values.weight),
  };
}

interface Scene {
  edges: Edges;
  tangents: readonly Tangent[];
}

/** Share of the score that is left to rings that no tangent follows. */
const UNFOLLOWED = 0.15;
/** The sine of the angle between a tangent and its ring at which it hardly counts. */
const ASKEW = 0.15;

function scoreOf({ edges, tangents }: Scene, rings: Rings): number {
  const { support } = supportOf(edges, rings);
  if (tangents.length === 0) return support;
  const [sum, all] = tangents.reduce(
    ([total, weights], tangent) => [
      total + tangent.weight * Math.exp(-((askewnessOf(tangent, rings) / ASKEW) ** 2)),
      weights + tangent.weight,
    ],
    [0, 0],
  );
  return support * (UNFOLLOWED + sum / all);
}

/** The sine of the angle between a tangent and the ring through its middle, in the rings' plane. */
export function askewnessOf({ x, y, alongX, alongY }: Tangent, { center, stretch, direction }: Rings): number {
  const [a, b, c] = shapeOf(1 / stretch, direction);
  const [dx, dy] = [x - center.x, y - center.y];
  const [u, v] = [a * dx + b * dy, b * dx + c * dy];
  const [along, down] = [a * alongX + b * alongY, b * alongX + c * alongY];
  return Math.abs(u * along + v * down) / (Math.hypot(u, v) * Math.hypot(along, down) || 1);
}

/** Radii of circles that a single tangent may be bent to, in its lengths: it spans from 130 to 30 degrees of them. */
const BENDS = [0.55, 0.7, 1, 1.4, 2];

function bendsOf({ x, y, alongX, alongY, length }: Tangent): Rings[] {
  return BENDS.flatMap((bend) =>
    [1, -1].map((side) => ({
      center: { x: x - side * bend * length * alongY, y: y + side * bend * length * alongX },
      stretch: 1,
      direction: 0,
    })),
  );
}

/** Most tangents whose pairs are tried, heaviest first. */
const MOST_TANGENTS = 8;
/** The sine of the angle between two tangents below which they say too little of a centre. */
const LEAST_TURN = 0.08;

/** For each pair of tangents the centre of the rings of this shape that they follow. */
function centersOf(tangents: readonly Tangent[], { stretch, direction }: Omit<Rings, 'center'>): Rings[] {
  const [a, b, c] = shapeOf(1 / stretch, direction);
  const [backA, backB, backC] = shapeOf(stretch, direction);
  const heaviest = tangents.toSorted((one, other) => other.weight - one.weight).slice(0, MOST_TANGENTS);
  const flat = heaviest.map(({ x, y, alongX, alongY }) => {
    const [along, down] = [a * alongX + b * alongY, b * alongX + c * alongY];
    const length = Math.hypot(along, down);
    return { u: a * x + b * y, v: b * x + c * y, along: along / length, down: down / length };
  });
  return flat.flatMap((one, index) =>
    flat.slice(index + 1).flatMap((other) => {
      const turn = one.along * other.down - one.down * other.along;
      if (Math.abs(turn) < LEAST_TURN) return [];
      // Where the lines across both meet.
      const first = one.along * one.u + one.down * one.v;
      const second = other.along * other.u + other.down * other.v;
      const u = (first * other.down - second * one.down) / turn;
      const v = (second * one.along - first * other.along) / turn;
      return [{ center: { x: backA * u + backB * v, y: backB * u + backC * v }, stretch, direction }];
    }),
  );
}

/** Strongest first. Source of the operator: Scharr, "Optimale Operatoren in der digitalen Bildverarbeitung", 2000. */
function edgesOf({ width, height, pixels }: RgbImage): Edges {
  const grey = new Float32Array(width * height);
  for (let pixel = 0; pixel < grey.length; pixel += 1) {
    const [red, green, blue] = [pixels[3 * pixel], pixels[3 * pixel + 1], pixels[3 * pixel + 2]] as [
      number,
      number,
      number,
    ];
    // Black on black has edges as well: equal ratios of brightness count the same.
    grey[pixel] = Math.log(lumaOf(red, green, blue) + 24);
  }
  const found: { x: number; y: number; dx: number; dy: number; strength: number }[] = [];
  for (let y = 1; y < height - 1; y += 1) {
    for (let x = 1; x < width - 1; x += 1) {
      const at = (column: number, row: number) => grey[(y + row) * width + x + column] as number;
      const dx = 3 * (at(1, -1) + at(1, 1) - at(-1, -1) - at(-1, 1)) + 10 * (at(1, 0) - at(-1, 0));
      const dy = 3 * (at(-1, 1) + at(1, 1) - at(-1, -1) - at(1, -1)) + 10 * (at(0, 1) - at(0, -1));
      const strength = Math.hypot(dx, dy);
      if (strength > 0) found.push({ x, y, dx, dy, strength });
    }
  }
  const strongest = found.toSorted((one, other) => other.strength - one.strength).slice(0, MOST_EDGES);
  return {
    count: strongest.length,
    x: Float32Array.from(strongest, ({ x }) => x + 0.5),
    y: Float32Array.from(strongest, ({ y }) => y + 0.5),
    acrossX: Float32Array.from(strongest, ({ dx, strength }) => dx / strength),
    acrossY: Float32Array.from(strongest, ({ dy, strength }) => dy / strength),
    weight: Float32Array.from(strongest, ({ strength }) => Math.sqrt(strength)),
  };
}

/** Lines across the edges meet in the centre of circles: the cell that most of them pass through. */
function voteForCenter(
  edges: Edges,
  { stretch, direction }: Omit<Rings, 'center'>,
  side: number,
): { rings: Rings; votes: number } {
  const [a, b, c] = shapeOf(1 / stretch, direction);
  const [backA, backB, backC] = shapeOf(stretch, direction);
  const cells = Math.ceil(((1 + 2 * OUTSIDE) * side * 1.3) / CELL);
  const from = -OUTSIDE * side * 1.3;
  const votes = new Float32Array(cells * cells);
  const step = Math.max(1, Math.floor(edges.count / MOST_VOTERS));
  for (let index = 0; index < edges.count; index += step) {
    const [x, y] = [edges.x[index] as number, edges.y[index] as number];
    const [u, v] = [a * x + b * y, b * x + c * y];
    const [acrossX, acrossY] = [edges.acrossX[index] as number, edges.acrossY[index] as number];
    const [gu, gv] = [backA * acrossX + backB * acrossY, backB * acrossX + backC * acrossY];
    const length = Math.hypot(gu, gv);
    const [stepU, stepV] = [(gu / length) * CELL, (gv / length) * CELL];
    const weight = edges.weight[index] as number;
    for (const sign of [1, -1]) {
      for (let reach = LEAST_RADIUS / CELL; ; reach += 1) {
        const column = Math.floor((u + sign * reach * stepU - from) / CELL);
        const row = Math.floor((v + sign * reach * stepV - from) / CELL);
        if (column < 0 || row < 0 || column >= cells || row >= cells) break;
        votes[row * cells + column] = (votes[row * cells + column] as number) + weight;
      }
    }
  }
  let best = { column: 0, row: 0, votes: Number.NEGATIVE_INFINITY };
  for (let row = 1; row < cells - 1; row += 1) {
    for (let column = 1; column < cells - 1; column += 1) {
      let sum = 0;
      for (let dy = -1; dy <= 1; dy += 1) {
        for (let dx = -1; dx <= 1; dx += 1) sum += votes[(row + dy) * cells + column + dx] as number;
      }
      if (sum > best.votes) best = { column, row, votes: sum };
    }
  }
  const [u, v] = [from + (best.column + 0.5) * CELL, from + (best.row + 0.5) * CELL];
  return {
    votes: best.votes,
    rings: { center: { x: backA * u + backB * v, y: backB * u + backC * v }, stretch, direction },
  };
}

/** Of rings that are looked for, in longer sides of the picture. */
const MOST_RADIUS = 4;
/** Width of a bin of radii, in pixels. */
const BIN = 1.5;
/** The cosine of the angle between an edge and a ring above which the edge may lie on it. */
const ALIGNED = 0.92;

/** The more edges share rings, the greater: the sum of squares of the histogram of radii, of either side's brightness. */
function supportOf(edges: Edges, { center, stretch, direction }: Rings): { support: number; radius: number } {
  const [a, b, c] = shapeOf(1 / stretch, direction);
  const [backA, backB, backC] = shapeOf(stretch, direction);
  const bins = Math.ceil((MOST_RADIUS * SIDE) / BIN);
  const histogram = new Float32Array(2 * bins);
  for (let index = 0; index < edges.count; index += 1) {
    const [dx, dy] = [(edges.x[index] as number) - center.x, (edges.y[index] as number) - center.y];
    const [u, v] = [a * dx + b * dy, b * dx + c * dy];
    const radius = Math.hypot(u, v);
    if (radius < LEAST_RADIUS) continue;
    const [acrossX, acrossY] = [edges.acrossX[index] as number, edges.acrossY[index] as number];
    const [gu, gv] = [backA * acrossX + backB * acrossY, backB * acrossX + backC * acrossY];
    const cosine = (gu * u + gv * v) / (Math.hypot(gu, gv) * radius);
    const aligned = Math.abs(cosine) - ALIGNED;
    if (aligned <= 0) continue;
    const place = radius / BIN;
    const bin = Math.floor(place);
    if (bin + 1 >= bins) continue;
    const share = place - bin;
    const weight = (aligned / (1 - ALIGNED)) * (edges.weight[index] as number);
    const first = (cosine > 0 ? bins : 0) + bin;
    histogram[first] = (histogram[first] as number) + weight * (1 - share);
    histogram[first + 1] = (histogram[first + 1] as number) + weight * share;
  }
  let [support, most, radius] = [0, 0, 0];
  for (let bin = 0; bin < histogram.length; bin += 1) {
    const of = (bin % bins) * BIN;
    const own = histogram[bin] as number;
    // A wide ring meets more edges by chance.
    support += own ** 2 / (LEAST_RADIUS + of);
    if (own > most) [most, radius] = [own, of];
  }
  return { support, radius };
}

/** Moves centre and shape by smaller and smaller steps, as long as the score rises. */
function refine(scene: Scene, start: Rings, steps: { from: number; to: number }): { rings: Rings; score: number } {
  let best = { rings: start, score: scoreOf(scene, start) };
  for (let step = steps.from; step >= steps.to; step /= 2) {
    for (let round = 0; round < 12; round += 1) {
      const before = best.score;
      for (const moved of neighboursOf(best.rings, step)) {
        const score = scoreOf(scene, moved);
        if (score > best.score) best = { rings: moved, score };
      }
      if (best.score === before) break;
    }
  }
  return best;
}

/** Most stretch that is believed: beyond it print is too flat to read. */
const MOST_STRETCH = 2.2;

function neighboursOf({ center, stretch, direction }: Rings, step: number): Rings[] {
  const moves = [
    { x: step, y: 0 },
    { x: -step, y: 0 },
    { x: 0, y: step },
    { x: 0, y: -step },
  ];
  const stretches = [1 + step / 80, 1 / (1 + step / 80)];
  const turns = [step / 40, -step / 40];
  return [
    ...moves.map(({ x, y }) => ({ center: { x: center.x + x, y: center.y + y }, stretch, direction })),
    ...stretches.map((by) => ({ center, stretch: clamp(stretch * by, 1, MOST_STRETCH), direction })),
    ...turns.map((by) => ({ center, stretch, direction: direction + by })),
  ];
}
