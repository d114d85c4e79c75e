/** Detects objects with any network whose decoder `model.json` names. */
import { Type } from 'typebox';
import { type DecoderSettings, decoderOf } from '../../models/decoder-settings.ts';
import type { Model, ModelInputs, ModelOutputs } from '../../models/model.ts';
import { readSettings } from '../../models/settings.ts';
import { type Box, clamp, clampBox, type Size } from '../decoding/boxes.ts';
import { decodeDbText } from '../decoding/db-text.ts';
import { clampPoint, type Point, type RawDetection } from '../decoding/detections.ts';
import {
  decodeDetr,
  decodeDetrSoftmax,
  decodeDetrWithPostprocessor,
  decodeUltralyticsRtDetr,
} from '../decoding/detr.ts';
import { decodeSemanticSegmentation } from '../decoding/semantic-segmentation.ts';
import {
  decodeYoloDetection,
  decodeYoloEndToEnd,
  decodeYoloEndToEndObb,
  decodeYoloEndToEndPose,
  decodeYoloEndToEndSegmentation,
  decodeYoloObb,
  decodeYoloPose,
  decodeYoloSegmentation,
} from '../decoding/yolo.ts';
import { createPictureInput } from '../images/picture-input.ts';
import type { RgbImage } from '../images/rgb-image.ts';
import { giveBack } from '../images/spare-floats.ts';
import { labelsOf, requireClasses } from './classes.ts';

/** Coordinates are in pixels of the picture, clamped to it. */
export interface Detection<Label extends string> {
  label: Label;
  /** 0 to 1 */
  confidence: number;
  box: Box;
  /** Null for decoders that find no outlines. */
  outline: Point[] | null;
  /** Corners in reading order or keypoints in the network's order; null for decoders that find neither. */
  points: Point[] | null;
}

export type Detector<Label extends string> = (picture: RgbImage) => Promise<Detection<Label>[]>;

/** Find boxes only. */
const BOX_DECODERS = [
  'yolo-detection',
  'yolo-end-to-end',
  'detr',
  'detr-softmax',
  'detr-with-postprocessor',
  'ultralytics-rtdetr',
] as const;
/** Find the outline of each object. */
export const OUTLINE_DECODERS = ['yolo-segmentation', 'yolo-end-to-end-segmentation', 'semantic-segmentation'] as const;
/** Find the corners of each object. */
export const CORNER_DECODERS = [
  'yolo-pose',
  'yolo-end-to-end-pose',
  'yolo-obb',
  'yolo-end-to-end-obb',
  'db-text',
] as const;
export const DETECTION_DECODERS = [...BOX_DECODERS, ...OUTLINE_DECODERS, ...CORNER_DECODERS] as const;

type DetectionDecoder = (typeof DETECTION_DECODERS)[number];
type Settings = Extract<DecoderSettings, { name: DetectionDecoder }>;

/** The name of a model's detection file, unless its task has several. */
export const DETECTOR_FILE = 'detector';
/** Minimum width and height of a box, in pixels of the picture. */
const SMALLEST_PIXELS = 1;

/**
 * @param vocabulary allowed names in the file's `labels`, where null marks a class to ignore
 * @param decoders those whose results suffice
 * @param file its name in `files`
 * @returns a function that returns detections, best first
 * @throws Error that names the field of `model.json` that is missing or wrong
 */
export function createDetector<const Label extends string>(
  model: Model,
  vocabulary: readonly Label[],
  decoders: readonly DetectionDecoder[] = DETECTION_DECODERS,
  file: string = DETECTOR_FILE,
): Detector<Label> {
  const label = Type.Unsafe<Label | null>({ enum: [...vocabulary, null] });
  const entry = Type.Object({ labels: labelsOf(label), decoder: decoderOf(decoders) });
  const settings = readSettings(model, Type.Object({ files: Type.Object({ [file]: entry }) })).files[file];
  if (!settings) throw new Error(`files.${file} is missing from model.json`);
  const { labels, decoder } = settings;
  requireClasses(model, file, labels.length);
  const sizeInput = decoder.name === 'detr-with-postprocessor' ? decoder.sizeInput : null;
  const input = createPictureInput(model, file, sizeInput === null ? [] : [sizeInput]);

  return async (picture) => {
    const { size, tensor, toPicture } = input.prepare(picture);
    const sizeOfInput: ModelInputs = sizeInput === null ? {} : { [sizeInput]: sizeTensor(size) };
    const outputs = await model.run(file, { [input.name]: tensor, ...sizeOfInput });
    giveBack(tensor);
    const within = (point: Point): Point => clampPoint(toPicture(point), picture);
    return decode(decoder, outputs, { labels, size }).flatMap((found) => {
      if (found.classIndex >= labels.length)
        throw new Error(`the class ${found.classIndex} has no label in model.json`);
      const name = labels[found.classIndex] ?? null;
      const [from, to] = [within({ x: found.box.x0, y: found.box.y0 }), within({ x: found.box.x1, y: found.box.y1 })];
      const box = clampBox({ x0: from.x, y0: from.y, x1: to.x, y1: to.y }, picture);
      if (name === null || !isLargeEnough(box)) return [];
      return [
        {
          label: name,
          confidence: clamp(found.score, 0, 1),
          box,
          outline: found.outline?.map(within) ?? null,
          points: found.points?.map(within) ?? null,
        },
      ];
    });
  };
}

type Found = RawDetection & { outline?: readonly Point[]; points?: readonly Point[] };

function decode(
  settings: Settings,
  outputs: ModelOutputs,
  { labels, size }: { labels: readonly (string | null)[]; size: Size },
): Found[] {
  const classes = labels.length;
  switch (settings.name) {
    case 'yolo-detection':
      return decodeYoloDetection(outputs.floats(settings.output), classes, settings);
    case 'yolo-end-to-end':
      return decodeYoloEndToEnd(outputs.floats(settings.output), settings);
    case 'yolo-segmentation': {
      const tensors = { output: outputs.floats(settings.output), prototypes: outputs.floats(settings.prototypes) };
      return decodeYoloSegmentation(tensors, classes, size, settings);
    }
    case 'yolo-pose':
      return decodeYoloPose(outputs.floats(settings.output), classes, settings).map(withKeypointsAsPoints);
    case 'yolo-end-to-end-segmentation': {
      const tensors = { output: outputs.floats(settings.output), prototypes: outputs.floats(settings.prototypes) };
      return decodeYoloEndToEndSegmentation(tensors, size, settings);
    }
    case 'yolo-end-to-end-pose':
      return decodeYoloEndToEndPose(outputs.floats(settings.output), settings).map(withKeypointsAsPoints);
    case 'yolo-end-to-end-obb':
      return decodeYoloEndToEndObb(outputs.floats(settings.output), settings).map(withCornersAsPoints);
    case 'yolo-obb':
      return decodeYoloObb(outputs.floats(settings.output), classes, settings).map(withCornersAsPoints);
    case 'detr':
      return decodeDetr(outputs.floats(settings.boxes), outputs.floats(settings.logits), size, settings);
    case 'detr-softmax':
      return decodeDetrSoftmax(outputs.floats(settings.boxes), outputs.floats(settings.logits), size, settings);
    case 'ultralytics-rtdetr':
      return decodeUltralyticsRtDetr(outputs.floats(settings.output), size, settings);
    case 'detr-with-postprocessor':
      return decodeDetrWithPostprocessor(
        outputs.floats(settings.boxes),
        outputs.floats(settings.scores),
        outputs.integers(settings.labels),
        settings,
      );
    case 'semantic-segmentation': {
      const isWanted = (classIndex: number) => (labels[classIndex] ?? null) !== null;
      return decodeSemanticSegmentation(outputs.floats(settings.output), size, isWanted, settings);
    }
    case 'db-text':
      return decodeDbText(outputs.floats(settings.output), settings).map(withCornersAsPoints);
  }
}

function withCornersAsPoints({ corners, ...found }: RawDetection & { corners: readonly Point[] }): Found {
  return { ...found, points: corners };
}

function withKeypointsAsPoints({ keypoints, ...found }: RawDetection & { keypoints: readonly Point[] }): Found {
  return { ...found, points: keypoints };
}

/** [1, 2] int64: width, height. */
function sizeTensor({ width, height }: Size) {
  return { data: BigInt64Array.of(BigInt(width), BigInt(height)), shape: [1, 2] };
}

/** Also false for a box with a NaN coordinate. */
function isLargeEnough({ x0, y0, x1, y1 }: Box): boolean {
  return x1 - x0 >= SMALLEST_PIXELS && y1 - y0 >= SMALLEST_PIXELS;
}
