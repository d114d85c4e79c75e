/** Reads print of pictures that may be sideways or upside down: turns such a picture upright and reads it again. */
import type { Model } from '../../models/model.ts';
import type { Point } from '../decoding/detections.ts';
import type { Quad } from '../decoding/rotated-boxes.ts';
import { projection, rectify } from '../images/rectify.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { createCloserReader, createTextReader, MOST_LINES_OF_PAGE, type PrintedLine } from './text-lines.ts';

/** Print in the upright direction has a higher mean probability than this. Below it, the picture is also read upside down. */
const SURE = 0.93;
/** Shorter lines can look alike in several directions. */
const SHORT = 4;

export interface UprightPrint {
  lines: PrintedLine[];
  /** Small lines besides these, as `createCloserReader` finds them in the upright picture. */
  lookCloser: () => Promise<PrintedLine[]>;
}

/**
 * As `createTextReader`, for pages: many lines with one direction of reading. Short lines of a turned picture have no direction
 * of their own, so the whole picture must be upright.
 */
export function createPageReader(model: Model): (picture: RgbImage) => Promise<UprightPrint> {
  const readText = createTextReader(model, MOST_LINES_OF_PAGE);
  const readCloser = createCloserReader(model);
  return async (picture) => {
    const asSent: UprightPrint = {
      lines: await readText(picture),
      lookCloser: () => readCloser(picture, asSent.lines),
    };
    const quarters = quartersOf(asSent.lines);
    const isDoubtful = quarters === 0 && asSent.lines.length > 0 && surenessOf(asSent.lines) < SURE;
    if (quarters === 0 && !isDoubtful) return asSent;
    const corners = turnedCorners(picture, isDoubtful ? 2 : quarters);
    const isSideways = quarters % 2 === 1;
    const [width, height] = isSideways ? [picture.height, picture.width] : [picture.width, picture.height];
    const turned = rectify(picture, corners, width, height);
    const lines = await readText(turned);
    if (isDoubtful && surenessOf(lines) <= surenessOf(asSent.lines)) return asSent;
    const toPicture = projection(corners);
    const back = ({ x, y }: Point) => toPicture(x / width, y / height);
    const quadBack = ([a, b, c, d]: Quad): Quad => [back(a), back(b), back(c), back(d)];
    const inPicture = (found: readonly PrintedLine[]) =>
      found.map(({ quad, characters }) => ({
        quad: quadBack(quad),
        characters: characters.map((each) => ({ ...each, quad: quadBack(each.quad) })),
      }));
    return { lines: inPicture(lines), lookCloser: async () => inPicture(await readCloser(turned, lines)) };
  };
}

/** Quarters of a turn, clockwise in the picture, of the direction that most characters run in. */
function quartersOf(lines: readonly PrintedLine[]): number {
  const votes = [0, 0, 0, 0];
  for (const { quad, characters } of lines) {
    if (characters.length < SHORT) continue;
    const angle = Math.atan2(quad[1].y - quad[0].y, quad[1].x - quad[0].x);
    const quarter = (Math.round(angle / (Math.PI / 2)) + 4) % 4;
    votes[quarter] = (votes[quarter] ?? 0) + characters.reduce((sum, { probability }) => sum + probability, 0);
  }
  return votes.indexOf(Math.max(...votes));
}

/** Mean probability of the characters of longer lines. */
function surenessOf(lines: readonly PrintedLine[]): number {
  const characters = lines.filter((line) => line.characters.length >= SHORT).flatMap((line) => line.characters);
  return characters.reduce((sum, { probability }) => sum + probability, 0) / Math.max(1, characters.length);
}

/** The picture's corners, from the one that is top left once the picture is turned upright. */
function turnedCorners({ width, height }: RgbImage, quarters: number): Point[] {
  const corners = [
    { x: 0, y: 0 },
    { x: width, y: 0 },
    { x: width, y: height },
    { x: 0, y: height },
  ];
  return [...corners.slice(quarters), ...corners.slice(0, quarters)];
}
