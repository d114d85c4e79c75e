/** Which part of a vehicle an outline lies on. Pure. */
import type { Size } from '../../inference/toolkit/decoding/boxes.ts';
import type { Point } from '../../inference/toolkit/decoding/detections.ts';
import { fillOutline } from '../../inference/toolkit/segmentation/outline-mattes.ts';
import type { OutlinedPart } from '../../inference/toolkit/segmentation/part-outlines.ts';

export interface Place {
  part: OutlinedPart['part'] | null;
  side: OutlinedPart['side'];
  /** Mean confidence that it is that part; 0 without one. */
  confidence: number;
  /** Share of the part that the outline covers; null without a part. */
  partShare: number | null;
  /** Share of the outline that lies on a vehicle, 0 to 1. */
  onVehicle: number;
  /** Share of the vehicles' area that the outline covers, 0 to 1; null where no vehicle is sure. */
  vehicleShare: number | null;
}

type Part = Pick<OutlinedPart, 'part' | 'side' | 'confidence' | 'outlines' | 'area'>;

/** Longest side of the map, in cells: finer than the networks' outlines are. */
const LONGEST = 512;
/** Least share of a damage that lies on a part for it to be a damage of that part: fenders and pillars are no known parts. */
const LEAST_ON_PART = 0.35;

/**
 * @param vehicles outlines of vehicles, in pixels of the picture
 * @returns a function from an outline in pixels of the picture to its place
 */
export function createPlaces(
  parts: readonly Part[],
  vehicles: readonly (readonly Point[])[],
  picture: Size,
): (outline: readonly Point[]) => Place {
  const scale = Math.min(1, LONGEST / Math.max(picture.width, picture.height));
  const size = { width: Math.ceil(picture.width * scale), height: Math.ceil(picture.height * scale) };
  const filled = (outline: readonly Point[]) =>
    fillOutline(
      outline.map(({ x, y }) => ({ x: x * scale, y: y * scale })),
      size,
    );
  const vehicle = new Uint8Array(size.width * size.height);
  for (const outline of vehicles) paint(filled(outline), (cell) => (vehicle[cell] = 1));
  const vehicleCells = vehicle.reduce((sum, each) => sum + each, 0);
  /** Smaller parts lie on larger ones. */
  const largestFirst = parts.toSorted((a, b) => b.area - a.area);
  const partAt = new Int16Array(vehicle.length).fill(-1);
  for (const [index, { outlines }] of largestFirst.entries()) {
    for (const outline of outlines) paint(filled(outline), (cell) => (partAt[cell] = index));
  }
  const cellsOf = new Uint32Array(largestFirst.length);
  for (const index of partAt) if (index >= 0) cellsOf[index] = (cellsOf[index] as number) + 1;

  return (outline) => {
    const shared = new Uint32Array(largestFirst.length);
    let [cells, onVehicle] = [0, 0];
    paint(filled(outline), (cell) => {
      cells += 1;
      const index = partAt[cell] as number;
      if (index >= 0) shared[index] = (shared[index] as number) + 1;
      if (index >= 0 || vehicle[cell] === 1) onVehicle += 1;
    });
    const most = Math.max(0, ...shared);
    const index = shared.indexOf(most);
    const found = most > 0 && most >= LEAST_ON_PART * cells ? largestFirst[index] : undefined;
    return {
      part: found?.part ?? null,
      side: found?.side ?? null,
      confidence: found?.confidence ?? 0,
      partShare: found ? most / (cellsOf[index] ?? most) : null,
      onVehicle: cells === 0 ? 0 : onVehicle / cells,
      vehicleShare: vehicleCells === 0 ? 0 : Math.min(1, onVehicle / vehicleCells),
    };
  };
}

function paint(matte: Uint8Array, each: (cell: number) => void): void {
  matte.forEach((value, cell) => {
    if (value > 0) each(cell);
  });
}
