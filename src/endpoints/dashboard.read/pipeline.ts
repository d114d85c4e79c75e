/**
 * Picture → instrument cluster → its elements → odometer line, warning lights, fuel gauge.
 * Every threshold and rule comes from `model.json`; `training/reader.py` is the same in Python.
 */

import { type Model, usedModel } from '../../inference/models/model.ts';
import { inputSize, readSettings } from '../../inference/models/settings.ts';
import type { FloatTensor } from '../../inference/models/tensors.ts';
import { calibrateReadings, createCalibration } from '../../inference/toolkit/calibration.ts';
import { type Box, clampBox, expandBox, type Size, suppressOverlaps } from '../../inference/toolkit/decoding/boxes.ts';
import { indexOfMaximum } from '../../inference/toolkit/decoding/classification.ts';
import type { TextLine } from '../../inference/toolkit/decoding/ctc.ts';
import { quadOfBox } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import { letterbox, squareCrop, toOriginal } from '../../inference/toolkit/images/fit.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { rgbTensor, tensorRow } from '../../inference/toolkit/images/tensors.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { markCutEnds } from '../../inference/toolkit/quality/cut-ends.ts';
import { findReadingIssues } from '../../inference/toolkit/quality/reading-issues.ts';
import { createLineReader } from '../../inference/toolkit/text/line-reader.ts';
import { createTextReader, type PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import { CALIBRATION } from './calibration.ts';
import { chooseOdometer } from './choose-odometer.ts';
import { voteOnOdometer } from './odometer-text.ts';
import { findPrintedOdometers, hasClusterWord, hasScale } from './printed-odometer.ts';
import type { Element, ElementLabel, Reading } from './reading.ts';
import { toResult } from './reading-to-result.ts';
import type { Result } from './result.ts';
import { odometerPattern, type Settings, settings as settingsSchema } from './settings.ts';

/** A cluster with a shorter side has nothing legible on it. */
const SMALLEST_CLUSTER_PIXELS = 16;
const SMALLEST_ELEMENT_PIXELS = 3;
const FIVE_DIGITS = 10_000;
const NOTHING = { lit: null, lamps: [], fuel: null };

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
      const lines = markCutEnds(picture, await readPrint(picture));
      if (presence < settings.thresholds.presence)
        return { ...NOTHING, lines, odometer: odometerOf(null, lines, null) };
      const cluster = clampBox(toOriginal(boxOf(outputs.floats('boxes'), 0), transform), picture);
      const elements = await findElements(picture, cluster);
      const places = elements.odometers.map(({ box }) => box);
      const own = await readOdometer(picture, elements.odometers);
      return {
        lines,
        lit: outputs.floats('lit').data[0] ?? 0,
        odometer: odometerOf(own, lines, places),
        // Independent of the parameters: a lit lamp also proves that the cluster has power.
        lamps: await classifyLamps(picture, elements.lamps),
        fuel: await readFuel(picture, elements.fuelGauges),
      };
    };

    const calibrate = createCalibration(model, CALIBRATION);
    return async ({ pictures, parameters }): Promise<Result> => {
      const picture = await onlyPicture(pictures);
      const reading = await read(picture);
      const result = toResult(reading, settings, parameters);
      const quality_issues = findIssues(picture, reading, result);
      return { ...result, odometer: calibrateReadings(result.odometer, calibrate), quality_issues };
    };
  },
};

/** With a cluster in the picture, what is read is the odometer. */
function findIssues(picture: RgbImage, { odometer, lines }: Reading, { cluster_lit }: Result) {
  const read = odometer ? [quadOfBox(odometer.box)] : [];
  const missing = cluster_lit === null ? 'no_dashboard' : 'no_odometer';
  return findReadingIssues(picture, { read, lines }, odometer ? null : missing);
}

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
  fuelGauges: Element[];
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
    if (!isAtLeast(crop, SMALLEST_CLUSTER_PIXELS)) return { odometers: [], fuelGauges: [], lamps: [] };
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
      fuelGauges: best('fuel_gauge').slice(0, rules.fuelCandidates ?? 1),
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

/**
 * Reads all gauges in one run and takes the surest. The box alone does not decide: a temperature gauge looks like one of fuel
 * until its symbol or its letters are seen closely.
 */
function fuelReader(model: Model, { rules }: Settings) {
  const { width } = inputSize(model, 'fuel', 'images');
  return async (picture: RgbImage, gauges: readonly Element[]): Promise<Reading['fuel']> => {
    if (gauges.length === 0) return null;
    const images = rgbTensor(gauges.map(({ box }) => squareCrop(picture, box, rules.fuelSide, width)));
    const outputs = await model.run('fuel', { images });
    const levels = outputs.floats('level').data;
    const confidences = outputs.floats('confidence').data;
    const surest = indexOfMaximum(confidences);
    return { level: levels[surest] ?? 0, confidence: confidences[surest] ?? 0 };
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
