/**
 * Picture → instrument cluster → its elements → odometer line, warning lights, fuel gauge.
 * Every threshold and rule comes from `model.json`; `training/reader.py` is the same in Python.
 */

import { type Model, usedModel } from '../../inference/models/model.ts';
import { inputSize, readSettings } from '../../inference/models/settings.ts';
import type { FloatTensor } from '../../inference/models/tensors.ts';
import { type Box, clampBox, expandBox, type Size, suppressOverlaps } from '../../inference/toolkit/decoding/boxes.ts';
import type { TextLine } from '../../inference/toolkit/decoding/ctc.ts';
import { letterbox, squareCrop, toOriginal } from '../../inference/toolkit/images/fit.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { rgbTensor, tensorRow } from '../../inference/toolkit/images/tensors.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { createLineReader } from '../../inference/toolkit/text/line-reader.ts';
import { createTextReader, type PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import { chooseOdometer } from './choose-odometer.ts';
import { voteOnOdometer } from './odometer-text.ts';
import { findPrintedOdometers, hasClusterWord, hasScale } from './printed-odometer.ts';
import type { Element, ElementLabel, Reading } from './reading.ts';
import { toResult } from './reading-to-result.ts';
import { odometerPattern, type Settings, settings as settingsSchema } from './settings.ts';

/** A cluster with a shorter side has nothing legible on it. */
const SMALLEST_CLUSTER_PIXELS = 16;
const SMALLEST_ELEMENT_PIXELS = 3;
const FIVE_DIGITS = 10_000;
const NOTHING: Reading = { lit: null, odometer: null, lamps: [], fuel: null };

export const pipeline: PipelineDefinition = {
  tasks: ['dashboard-reading'],
  create: (model) => {
    const settings = readSettings(model, settingsSchema);
    const locatorSize = inputSize(model, 'locator', 'image');
    const findElements = elementFinder(model, settings);
    const readOdometer = odometerReader(model, settings);
    const readPrint = createTextReader(usedModel(model, 'print'));
    const classifyLamps = lampClassifier(model, settings);
    const readFuel = fuelReader(model, settings);

    const read = async (picture: RgbImage): Promise<Reading> => {
      const whole = { x0: 0, y0: 0, x1: picture.width, y1: picture.height };
      const { image, transform } = letterbox(picture, whole, locatorSize.width, locatorSize.height);
      const outputs = await model.run('locator', { image: rgbTensor([image]) });
      const presence = outputs.floats('scores').data[0] ?? 0;
      const lines = await readPrint(picture);
      if (presence < settings.thresholds.presence) return { ...NOTHING, odometer: odometerOf(null, lines, null) };
      const cluster = clampBox(toOriginal(boxOf(outputs.floats('boxes'), 0), transform), picture);
      const elements = await findElements(picture, cluster);
      const places = elements.odometers.map(({ box }) => box);
      const own = await readOdometer(picture, elements.odometers);
      return {
        lit: outputs.floats('lit').data[0] ?? 0,
        odometer: odometerOf(own, lines, places),
        // Independent of the parameters: a lit lamp also proves that the cluster has power.
        lamps: await classifyLamps(picture, elements.lamps),
        fuel: await readFuel(picture, elements.fuelGauge),
      };
    };

    return async ({ pictures, parameters }) => toResult(await read(await onlyPicture(pictures)), settings, parameters);
  },
};

/** Papers and plates show numbers too: an odometer stands where the locator or the print around it shows a cluster. */
function odometerOf(
  own: Reading['odometer'],
  lines: readonly PrintedLine[],
  places: readonly Box[] | null,
): Reading['odometer'] {
  const odometer = chooseOdometer(own, findPrintedOdometers(lines, places ?? []));
  if (!odometer) return null;
  if (places === null) return hasClusterWord(lines) && (odometer.unit !== null || hasScale(lines)) ? odometer : null;
  const isSeen = own?.value === odometer.value && odometer.value >= FIVE_DIGITS;
  return odometer.unit !== null || isSeen || hasScale(lines) || hasClusterWord(lines) ? odometer : null;
}

interface Elements {
  odometers: Element[];
  fuelGauge: Element | undefined;
  lamps: Element[];
}

/** Finds the elements of a cluster, whose box is in original pixels. */
function elementFinder(model: Model, { thresholds, rules, files }: Settings) {
  const size = inputSize(model, 'elements', 'image');
  const leastScore: Readonly<Record<ElementLabel, number>> = {
    odometer_digital: thresholds.odometer,
    odometer_analogue: thresholds.odometer,
    fuel_gauge: thresholds.fuel,
    lamp: thresholds.lamp,
  };
  return async (picture: RgbImage, cluster: Box): Promise<Elements> => {
    const crop = expandBox(cluster, rules.clusterMargin, rules.clusterMargin, picture);
    if (!isAtLeast(crop, SMALLEST_CLUSTER_PIXELS)) return { odometers: [], fuelGauge: undefined, lamps: [] };
    const { image, transform } = letterbox(picture, crop, size.width, size.height);
    const outputs = await model.run('elements', { image: rgbTensor([image]) });
    const boxes = outputs.floats('boxes');
    const scores = outputs.floats('scores').data;
    const found = outputs.integers('labels').flatMap((index, place): Element[] => {
      const label = files.elements.labels[index];
      if (!label) throw new Error(`elements: label ${index} is not in model.json`);
      const score = scores[place] ?? 0;
      const box = clampBox(toOriginal(boxOf(boxes, place), transform), picture);
      return score >= leastScore[label] && isAtLeast(box, SMALLEST_ELEMENT_PIXELS) ? [{ box, score, label }] : [];
    });
    const best = (...labels: ElementLabel[]) =>
      suppressOverlaps(
        found.filter(({ label }) => labels.includes(label)),
        rules.overlap,
      );
    return {
      odometers: best('odometer_digital', 'odometer_analogue').slice(0, rules.odometerCandidates),
      fuelGauge: best('fuel_gauge')[0],
      lamps: best('lamp').slice(0, rules.maximumLamps),
    };
  };
}

/** Reads the odometer from the best box with a valid reading, using several crops of each box. */
function odometerReader(model: Model, { thresholds, rules }: Settings) {
  const readLine = createLineReader(usedModel(model, 'text'));
  const pattern = odometerPattern(rules);
  return async (picture: RgbImage, candidates: readonly Element[]): Promise<Reading['odometer']> => {
    for (const candidate of candidates) {
      const views: TextLine[] = [];
      for (const [marginX = 0, marginY = 0] of rules.odometerViews) {
        views.push(await readLine(picture, candidate.box, { ...rules.line, marginX, marginY }));
      }
      const reading = voteOnOdometer(views, pattern, thresholds.character);
      if (reading && reading.confidence >= thresholds.odometerText) return { ...candidate, ...reading };
    }
    return null;
  };
}

/** Classifies all lamp boxes in one run. */
function lampClassifier(model: Model, { rules }: Settings) {
  const { width } = inputSize(model, 'lamps', 'images');
  return async (picture: RgbImage, lamps: readonly Element[]): Promise<Reading['lamps']> => {
    if (lamps.length === 0) return [];
    const images = rgbTensor(lamps.map(({ box }) => squareCrop(picture, box, rules.lampSide, width)));
    const probabilities = (await model.run('lamps', { images })).floats('probabilities');
    return lamps.map((lamp, index) => ({ ...lamp, probabilities: tensorRow(probabilities, index) }));
  };
}

function fuelReader(model: Model, { rules }: Settings) {
  const { width } = inputSize(model, 'fuel', 'images');
  return async (picture: RgbImage, gauge: Element | undefined): Promise<Reading['fuel']> => {
    if (!gauge) return null;
    const images = rgbTensor([squareCrop(picture, gauge.box, rules.fuelSide, width)]);
    const outputs = await model.run('fuel', { images });
    return { level: outputs.floats('level').data[0] ?? 0, confidence: outputs.floats('confidence').data[0] ?? 0 };
  };
}

/** Row `index` of [K, 4] corners. */
function boxOf(boxes: FloatTensor, index: number): Box {
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = tensorRow(boxes, index);
  return { x0, y0, x1, y1 };
}

/** False for a box with a coordinate that is not a number. */
function isAtLeast({ x0, y0, x1, y1 }: Box, pixels: number): boolean {
  const { width, height }: Size = { width: x1 - x0, height: y1 - y0 };
  return width >= pixels && height >= pixels;
}
