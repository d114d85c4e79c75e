/** Checks a file's labels against its outputs' shapes: a missing label would rename every later class. */
import { type TSchema, Type } from 'typebox';
import type { DecoderSettings } from '../../models/decoder-settings.ts';
import { versionOf } from '../../models/manifest.ts';
import { fileEntry, type Model } from '../../models/model.ts';

type Dimension = number | string | undefined;

/**
 * Schema of a file's labels, in the network's order.
 * @param label schema of one label; may allow null for a class to ignore. At least one label must not be null
 */
export function labelsOf<Label extends TSchema>(label: Label) {
  return Type.Array(label, { contains: { not: { const: null } } });
}

/** Checks that the outputs have this number of classes. @throws Error that names the wrong field of `model.json` */
export function requireClasses(model: Model, file: string, classes: number): void {
  const { outputs, decoder } = fileEntry(model, file);
  if (!decoder) throw new Error(`${versionOf(model.manifest)}: files.${file}.decoder is missing from model.json`);
  const shapeOf = (output: string): readonly Dimension[] => {
    const entry = outputs[output];
    if (entry) return entry.shape;
    throw new Error(`${versionOf(model.manifest)}: files.${file}.decoder names ${output}, which is not one of outputs`);
  };
  const stated = statedClasses(decoder, shapeOf);
  if (stated === null || stated === classes) return;
  const problem = `files.${file}.labels must name ${stated} classes, as the outputs have them, not ${classes}`;
  throw new Error(`${versionOf(model.manifest)}: ${problem}`);
}

/** The number of classes in the outputs' shapes; null when they do not tell. */
function statedClasses(decoder: DecoderSettings, shapeOf: (output: string) => readonly Dimension[]): number | null {
  switch (decoder.name) {
    case 'yolo-detection':
      return less(shapeOf(decoder.output)[1], 4);
    case 'yolo-obb':
      return less(shapeOf(decoder.output)[1], 4 + 1);
    case 'yolo-pose':
      return less(shapeOf(decoder.output)[1], 4 + decoder.keypoints * decoder.values);
    case 'yolo-segmentation': {
      const planes = shapeOf(decoder.prototypes)[1];
      return typeof planes === 'number' ? less(shapeOf(decoder.output)[1], 4 + planes) : null;
    }
    case 'detr':
      shapeOf(decoder.boxes);
      return less(shapeOf(decoder.logits)[2], 0);
    case 'detr-with-postprocessor':
      for (const output of [decoder.boxes, decoder.scores, decoder.labels]) shapeOf(output);
      return null;
    case 'semantic-segmentation':
    case 'softmax-classification':
    case 'sigmoid-classification':
      return less(shapeOf(decoder.output)[1], 0);
    case 'ctc':
      return less(shapeOf(decoder.output)[2], 0);
    case 'db-text':
      shapeOf(decoder.output);
      return 1;
    case 'detr-softmax':
      shapeOf(decoder.boxes);
      return less(shapeOf(decoder.logits)[2], 1);
    case 'yolo-end-to-end-segmentation':
      shapeOf(decoder.output);
      shapeOf(decoder.prototypes);
      return null;
    case 'yolo-end-to-end':
    case 'yolo-end-to-end-pose':
    case 'yolo-end-to-end-obb':
    case 'ultralytics-rtdetr':
    case 'alpha-matte':
    case 'image-to-image':
      shapeOf(decoder.output);
      return null;
  }
}

function less(dimension: Dimension, others: number): number | null {
  return typeof dimension === 'number' ? dimension - others : null;
}
