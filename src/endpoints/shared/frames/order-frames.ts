/** Pictures in the order of their files → where each was taken around the vehicle. Pure. */
import { COMPASS_VIEWS } from '../../../contracts/vocabulary/pictures.ts';
import { degreesBetween } from '../spin-set-frames.ts';

/** How probable each of COMPASS_VIEWS is for a picture; together at most 1. */
export type ViewShares = readonly number[];

export interface Ordered {
  /** 0 is the vehicle's front, 90 its right side. */
  azimuthDegrees: number;
  /** How probable it is that the camera was within 45° of there, 0 to 1. */
  confidence: number;
}

const VIEW_STEP = 360 / COMPASS_VIEWS.length;
/** Directions of the camera that a walk is made of. */
const CELLS = 72;
const CELL_DEGREES = 360 / CELLS;
/** Farthest that a walk goes from one picture to the next: 60°. */
const LONGEST_STEP = 12;
/** Of a view that a picture may show although it looks like another one. */
const UNLIKELY = 0.02;
/**
 * A walk is believed if it makes the views of a picture less likely than they are alone by no more than this factor, as a geometric
 * mean. One clear contradiction among 16 pictures is then an error of the classifier.
 */
const BELIEVED = 0.78;
/** Of fewer pictures, each has a view of its own, and two that contradict the order of the files may as well be right. */
const LEAST_OF_WALK = 12;

/**
 * The order of the files is a walk around the vehicle, in either direction, if the views agree with one; then it tells pictures of one
 * view apart. Otherwise each picture is where its own view says.
 */
export function orderFrames(pictures: readonly ViewShares[]): { isWalk: boolean; frames: Ordered[] } {
  const likely = pictures.map(likelihoods);
  const alone = likely.reduce((sum, cells) => sum + Math.log(Math.max(...cells)), 0);
  const walks = ([1, -1] as const).map((direction) => bestWalk(likely, direction));
  const [walk] = walks.toSorted((a, b) => b.score - a.score);
  const isWalk =
    walk !== undefined &&
    pictures.length >= LEAST_OF_WALK &&
    (walk.score - alone) / pictures.length >= Math.log(BELIEVED);
  const azimuths = isWalk ? evened(walk.cells).map((cell) => cell * CELL_DEGREES) : pictures.map(meanDirection);
  return {
    isWalk,
    frames: azimuths.map((degrees, index) => {
      const azimuthDegrees = (Math.round((((degrees % 360) + 360) % 360) * 10) / 10) % 360;
      return { azimuthDegrees, confidence: shareNear(pictures[index] ?? [], azimuthDegrees) };
    }),
  };
}

/** For each direction of the camera: between two views, both count by how near they are. */
function likelihoods(shares: ViewShares): number[] {
  return Array.from({ length: CELLS }, (_, cell) => {
    const near = shares.reduce((sum, share, view) => {
      const distance = degreesBetween(cell * CELL_DEGREES, view * VIEW_STEP);
      return sum + share * Math.max(0, 1 - distance / VIEW_STEP);
    }, 0);
    return UNLIKELY + near;
  });
}

/** The likeliest sequence of directions that never turns back, by dynamic programming (Viterbi). */
function bestWalk(likely: readonly number[][], direction: 1 | -1): { score: number; cells: number[] } {
  let scores = (likely[0] ?? []).map(Math.log);
  const steps: number[][] = [];
  for (const cells of likely.slice(1)) {
    const taken: number[] = [];
    scores = cells.map((value, cell) => {
      let [best, bestStep] = [-Infinity, 0];
      for (let step = 0; step <= LONGEST_STEP; step += 1) {
        const from = (((cell - direction * step) % CELLS) + CELLS) % CELLS;
        const score = scores[from] ?? -Infinity;
        // Of equals, the shorter step: it leaves more of the circle for the pictures to come.
        if (score > best) [best, bestStep] = [score, step];
      }
      taken.push(bestStep);
      return best + Math.log(value);
    });
    steps.push(taken);
  }
  const score = Math.max(...scores);
  const cells = [scores.indexOf(score)];
  for (const taken of steps.toReversed()) {
    const cell = cells[0] ?? 0;
    // Not brought back to the circle, so that neighbours stay neighbours.
    cells.unshift(cell - direction * (taken[((cell % CELLS) + CELLS) % CELLS] ?? 0));
  }
  return { score, cells };
}

/** Pictures between which the walk stands still are spread towards their neighbours; the ends stay. */
function evened(cells: readonly number[]): number[] {
  const REACH = 2;
  return cells.map((_, index) => {
    const reach = Math.min(REACH, index, cells.length - 1 - index);
    const window = cells.slice(index - reach, index + reach + 1);
    return window.reduce((sum, cell) => sum + cell, 0) / window.length;
  });
}

/** The direction of the sum of the views as vectors. */
function meanDirection(shares: ViewShares): number {
  const along = (axis: (radians: number) => number) =>
    shares.reduce((sum, share, view) => sum + share * axis((view * VIEW_STEP * Math.PI) / 180), 0);
  return (Math.atan2(along(Math.sin), along(Math.cos)) * 180) / Math.PI;
}

function shareNear(shares: ViewShares, azimuthDegrees: number): number {
  const near = shares.reduce(
    (sum, share, view) => sum + (degreesBetween(view * VIEW_STEP, azimuthDegrees) <= VIEW_STEP ? share : 0),
    0,
  );
  return Math.min(1, near);
}
