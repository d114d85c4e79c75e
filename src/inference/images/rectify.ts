/** Straightens a plane thing that was seen at an angle. */
import type { Point } from '../decoding/detections.ts';
import type { RgbImage } from './rgb-image.ts';

/**
 * The quadrilateral with these corners (pixels of the picture; top left, top right, bottom right, bottom left) drawn out to
 * width × height, bilinear between the middles of pixels. What lies outside the picture repeats its edge. What OpenCV's
 * `getPerspectiveTransform` and `warpPerspective` give.
 *
 * @param corners of a convex outline
 */
export function rectify(image: RgbImage, corners: readonly Point[], width: number, height: number): RgbImage {
  const toPicture = projection(corners);
  const pixels = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const place = toPicture((x + 0.5) / width, (y + 0.5) / height);
      const column = Math.min(Math.max(place.x - 0.5, 0), image.width - 1);
      const row = Math.min(Math.max(place.y - 0.5, 0), image.height - 1);
      const [left, top] = [Math.floor(column), Math.floor(row)];
      const [right, bottom] = [Math.min(left + 1, image.width - 1), Math.min(top + 1, image.height - 1)];
      const [towardsRight, towardsBottom] = [column - left, row - top];
      for (let channel = 0; channel < 3; channel += 1) {
        const at = (line: number, place: number) => image.pixels[(line * image.width + place) * 3 + channel] as number;
        const above = at(top, left) * (1 - towardsRight) + at(top, right) * towardsRight;
        const below = at(bottom, left) * (1 - towardsRight) + at(bottom, right) * towardsRight;
        pixels[(y * width + x) * 3 + channel] = Math.round(above * (1 - towardsBottom) + below * towardsBottom);
      }
    }
  }
  return { width, height, pixels };
}

/**
 * Leads from the unit square to the quadrilateral.
 * Source: Heckbert, "Fundamentals of Texture Mapping and Image Warping", 1989, section 2.2.3.
 */
function projection(corners: readonly Point[]): (u: number, v: number) => Point {
  const [a, b, c, d] = corners;
  if (!a || !b || !c || !d) throw new Error(`a quadrilateral has four corners, not ${corners.length}`);
  const sum = { x: a.x - b.x + c.x - d.x, y: a.y - b.y + c.y - d.y };
  const [right, down] = [
    { x: b.x - c.x, y: b.y - c.y },
    { x: d.x - c.x, y: d.y - c.y },
  ];
  const determinant = right.x * down.y - down.x * right.y;
  const g = (sum.x * down.y - down.x * sum.y) / determinant;
  const h = (right.x * sum.y - sum.x * right.y) / determinant;
  return (u, v) => {
    const depth = g * u + h * v + 1;
    return {
      x: ((b.x - a.x + g * b.x) * u + (d.x - a.x + h * d.x) * v + a.x) / depth,
      y: ((b.y - a.y + g * b.y) * u + (d.y - a.y + h * d.y) * v + a.y) / depth,
    };
  };
}
