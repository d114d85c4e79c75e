/**
 * Pictures → the vehicle. A classifier of models tells the model: scores of several pictures are averaged. A model for vehicles
 * and their parts tells the colour of the paint, and where each picture shows the vehicle; with a reader of print in its role
 * `text`, lettering on the vehicle tells make and model, and that pictures show different makes. Fields that a model does not determine
 * stay null or empty.
 */
import { Type } from 'typebox';
import { BODY_TYPES, COLORS } from '../../contracts/vocabulary/vehicles.ts';
import { decoderOf } from '../../inference/models/decoder-settings.ts';
import type { Model } from '../../inference/models/model.ts';
import { readSettings } from '../../inference/models/settings.ts';
import { toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { labelsOf } from '../../inference/toolkit/detection/classes.ts';
import {
  type Classification,
  createOptionalClassifier,
  createScores,
} from '../../inference/toolkit/detection/classifier.ts';
import { pixelsAround } from '../../inference/toolkit/images/compose.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import type { Picture, PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { createPartReader } from '../../inference/toolkit/segmentation/part-reader.ts';
import { withSharedRuns } from '../../inference/toolkit/segmentation/shared-runs.ts';
import { findsVehicleParts, VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import { createTextReader, readWithin } from '../../inference/toolkit/text/text-lines.ts';
import { applyParameters } from './apply-parameters.ts';
import { type Badge, findBadges, identityOfPictures, isOfMake } from './lettering.ts';
import { type PaintColor, type PaintShades, paintColor } from './paint-color.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

const IDENTITY_FILE = 'identity';
const PAINT_FILE = 'paint';

const year = Type.Integer({ minimum: 1885, maximum: 2100 });
/** A class: a generation of a model, or a model if `generation` is null. The class null means no vehicle. */
const vehicle = Type.Object(
  {
    make: Type.String({ minLength: 1 }),
    model: Type.String({ minLength: 1 }),
    generation: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
    year_from: year,
    year_to: Type.Union([year, Type.Null()]),
  },
  { additionalProperties: false },
);

/** Longest side at which a vehicle's lettering is read: letters of a badge are then some 15 pixels high. */
const LETTERING_PIXELS = 1024;

type Identify = (pictures: readonly Picture[]) => Promise<Result>;

const NOTHING: Result = {
  make: null,
  candidates: [],
  body_type: null,
  color: null,
  badges: [],
  sightings: [],
  same_vehicle: null,
};

export const pipeline: PipelineDefinition = {
  tasks: ['vehicle-identification', VEHICLE_PARTS],
  create: (model) => {
    const identify = findsVehicleParts(model) ? createLooker(model) : createRecognizer(model);
    return async ({ pictures, parameters }) => {
      const requested: Parameters = parameters;
      return applyParameters(await identify(pictures), requested);
    };
  },
};

function createRecognizer(model: Model): Identify {
  const identity = createIdentifier(model);
  const bodyOf = createOptionalClassifier(model, 'body_type', BODY_TYPES);
  return async (pictures) => {
    const scores: (readonly number[])[] = [];
    const bodies: Classification<(typeof BODY_TYPES)[number]>[] = [];
    for (const each of pictures) {
      const picture = await each.decode();
      scores.push(await identity.scoresOf(picture));
      bodies.push(...(await bodyOf(picture)));
    }
    const candidates = identity.candidatesOf(scores);
    const [make] = makesOf(candidates);
    const [body] = bodies.toSorted((a, b) => b.confidence - a.confidence);
    return {
      ...NOTHING,
      make: make ?? null,
      candidates,
      body_type: body ? { value: body.label, confidence: body.confidence } : null,
    };
  };
}

/** Looks at the largest vehicle of each picture. Colour and body type are those of the picture where they are least ambiguous. */
function createLooker(given: Model): Identify {
  const model = withSharedRuns(given);
  const read = createPartReader(model);
  const shadesOf = createPaintReader(model);
  const bodyOf = createOptionalClassifier(model, 'body_type', BODY_TYPES);
  const readText = model.uses.text ? createTextReader(model.uses.text) : async () => [];
  return async (pictures) => {
    const colors: PaintColor[] = [];
    const bodies: Classification<(typeof BODY_TYPES)[number]>[] = [];
    const badges: Badge[] = [];
    const sightings: Result['sightings'] = [];
    for (const [index, each] of pictures.entries()) {
      const picture = await each.decode();
      const {
        vehicles: [main],
        parts,
        assessment: { view },
      } = await read(picture);
      if (!main) continue;
      const color = paintColor(parts, picture, await shadesOf(picture));
      if (color) colors.push(color);
      bodies.push(...(await bodyOf(picture)));
      const lines = await readWithin(picture, pixelsAround(main.box, picture), readText, LETTERING_PIXELS);
      badges.push(...findBadges(lines, index));
      if (!view) continue;
      sightings.push({
        image_index: index,
        view: view.value,
        confidence: main.confidence,
        bbox: toBoundingBox(main.box),
      });
    }
    const [color] = colors.toSorted((a, b) => b.confidence - a.confidence);
    const [body] = bodies.toSorted((a, b) => b.confidence - a.confidence);
    const identity = identityOfPictures(badges);
    const ofVehicle = badges.filter((badge) => isOfMake(badge, identity.make?.value));
    return {
      ...NOTHING,
      ...identity,
      body_type: body ? { value: body.label, confidence: body.confidence } : null,
      color: color ? { ...color, finish: null } : null,
      badges: ofVehicle.map(({ text, confidence, imageIndex, box }) => ({
        text,
        confidence,
        image_index: imageIndex,
        bbox: toBoundingBox(box),
      })),
      sightings,
    };
  };
}

/** The network's shades of the paint; without a file `paint`, rules tell them. */
function createPaintReader(model: Model): (picture: RgbImage) => Promise<PaintShades | undefined> {
  if (!model.manifest.files[PAINT_FILE]) return async () => undefined;
  const file = Type.Object({
    labels: labelsOf(Type.Unsafe<(typeof COLORS)[number] | null>({ enum: [...COLORS, null] })),
    decoder: decoderOf(['softmax-classification']),
  });
  const { labels, decoder } = readSettings(model, Type.Object({ files: Type.Object({ [PAINT_FILE]: file }) })).files
    .paint;
  const scoresOf = createScores(model, PAINT_FILE, { classes: labels.length, decoder });
  return async (picture) => {
    const scores = await scoresOf(picture);
    return new Map(labels.map((label, index) => [label, scores[index] ?? 0]));
  };
}

interface Identifier {
  /** The score of each class on one picture. */
  scoresOf: (picture: RgbImage) => Promise<readonly number[]>;
  /** The candidates from the averaged scores, most likely first. */
  candidatesOf: (scores: readonly (readonly number[])[]) => Result['candidates'];
}

function createIdentifier(model: Model): Identifier {
  const file = Type.Object({
    labels: labelsOf(Type.Union([vehicle, Type.Null()])),
    decoder: decoderOf(['softmax-classification']),
  });
  const { labels, decoder } = readSettings(model, Type.Object({ files: Type.Object({ [IDENTITY_FILE]: file }) })).files
    .identity;
  const scoresOf = createScores(model, IDENTITY_FILE, { classes: labels.length, decoder });
  const candidatesOf: Identifier['candidatesOf'] = (scores) => {
    const likely = labels
      .map((label, index) => ({
        label,
        confidence: scores.reduce((sum, each) => sum + (each[index] ?? 0), 0) / scores.length,
      }))
      .toSorted((a, b) => b.confidence - a.confidence);
    // The most likely class is that there is no vehicle.
    if (!likely[0]?.label) return [];
    return likely.flatMap(({ label, confidence }) =>
      label && confidence >= decoder.score ? [{ ...label, confidence }] : [],
    );
  };
  return { scoresOf, candidatesOf };
}

/** Most likely first. The confidence of a make is the sum over its candidates. */
function makesOf(candidates: Result['candidates']): { value: string; confidence: number }[] {
  const sums = new Map<string, number>();
  for (const { make, confidence } of candidates) sums.set(make, (sums.get(make) ?? 0) + confidence);
  return [...sums]
    .map(([value, confidence]) => ({ value, confidence: Math.min(1, confidence) }))
    .toSorted((a, b) => b.confidence - a.confidence);
}
