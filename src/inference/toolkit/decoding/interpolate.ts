/** Bilinear interpolation between cell centres, as in PyTorch's `interpolate(align_corners=False)` and OpenCV. */

/** Per pixel of an axis: the two cells around it, and the second cell's weight, 0 to 1. */
export interface AxisSteps {
  first: Int32Array;
  second: Int32Array;
  share: Float64Array;
}

export function axisSteps(cells: number, size: number): AxisSteps {
  const steps = { first: new Int32Array(size), second: new Int32Array(size), share: new Float64Array(size) };
  for (let pixel = 0; pixel < size; pixel += 1) {
    const place = Math.max(0, ((pixel + 0.5) * cells) / size - 0.5);
    const first = Math.min(Math.floor(place), cells - 1);
    steps.first[pixel] = first;
    steps.second[pixel] = Math.min(first + 1, cells - 1);
    steps.share[pixel] = place - first;
  }
  return steps;
}

/** Interpolates a plane [cells, width] vertically at pixel row `y`. Writes `width` values into `line`. */
export function interpolateLine(
  plane: ArrayLike<number>,
  { width, rows, y }: { width: number; rows: AxisSteps; y: number },
  line: Float64Array,
): void {
  const [top, bottom] = [(rows.first[y] as number) * width, (rows.second[y] as number) * width];
  const share = rows.share[y] as number;
  for (let cell = 0; cell < width; cell += 1) {
    line[cell] = (plane[top + cell] as number) * (1 - share) + (plane[bottom + cell] as number) * share;
  }
}

/** The value of a line at pixel column `x`. */
export function interpolateAt(line: Float64Array, { first, second, share }: AxisSteps, x: number): number {
  const towardsSecond = share[x] as number;
  return (
    (line[first[x] as number] as number) * (1 - towardsSecond) + (line[second[x] as number] as number) * towardsSecond
  );
}
