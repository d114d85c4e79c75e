/** How a picture frames its vehicle, by rules over the vehicle's box. */
import { PICTURE_EDGES } from '../../contracts/vocabulary/pictures.ts';
import { type Box, type Size, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import type { Result } from './result.ts';

type Framing = NonNullable<Result['framing']>;

/** Share of the picture's width or height within which an edge of the box counts as cut off. */
const EDGE_SHARE = 0.01;
/** Below this share of the picture, a vehicle is too far for details. */
const TOO_FAR_SHARE = 0.08;
/** Distance of the middle of the box from that of the picture, as a share of its width or height, that is off the centre. */
const OFF_CENTER_SHARE = 0.2;

/**
 * @param vehicle its box in pixels of the picture
 * @returns `too_close` if three edges or more cut the vehicle off
 */
export function describeFraming(
  { box, confidence }: { box: Box; confidence: number },
  picture: Size,
): Pick<Result, 'vehicle' | 'framing'> {
  const [width, height] = [box.x1 - box.x0, box.y1 - box.y0];
  const share = Math.min(1, (width * height) / (picture.width * picture.height));
  const distances = {
    left: box.x0 / picture.width,
    top: box.y0 / picture.height,
    right: 1 - box.x1 / picture.width,
    bottom: 1 - box.y1 / picture.height,
  };
  const edges = PICTURE_EDGES.filter((edge) => distances[edge] < EDGE_SHARE);
  const offCenter = Math.max(
    Math.abs((box.x0 + box.x1) / 2 / picture.width - 0.5),
    Math.abs((box.y0 + box.y1) / 2 / picture.height - 0.5),
  );
  const value = (): Framing['value'] => {
    if (edges.length >= 3) return 'too_close';
    if (edges.length > 0) return 'cropped';
    if (share < TOO_FAR_SHARE) return 'too_far';
    return offCenter > OFF_CENTER_SHARE ? 'off_center' : 'well_framed';
  };
  return {
    vehicle: { confidence, bbox: toBoundingBox(box), area_fraction: share },
    framing: { value: value(), confidence, cropped_edges: edges },
  };
}
