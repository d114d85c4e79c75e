/**
 * Pictures → the vehicle, by a classifier of models. Scores of several pictures are averaged. The classifier determines no
 * colour, lettering or location and does not compare pictures: those fields stay null or empty.
 */
import { Type } from 'typebox';
import { BODY_TYPES } from '../../contracts/vocabulary/vehicles.ts';
import { decoderOf } from '../../inference/models/decoder-settings.ts';
import type { Model } from '../../inference/models/model.ts';
import { readSettings } from '../../inference/models/settings.ts';
import { labelsOf } from '../../inference/toolkit/detection/classes.ts';
import {
  type Classification,
  createOptionalClassifier,
  createScores,
} from '../../inference/toolkit/detection/classifier.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import type { PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

const IDENTITY_FILE = 'identity';

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

export const pipeline: PipelineDefinition = {
  tasks: ['vehicle-identification'],
  create: (model) => {
    const identity = createIdentifier(model);
    const bodyOf = createOptionalClassifier(model, 'body_type', BODY_TYPES);
    return async ({ pictures, parameters }) => {
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
      const result: Result = {
        make: make ?? null,
        candidates,
        body_type: body ? { value: body.label, confidence: body.confidence } : null,
        color: null,
        badges: [],
        sightings: [],
        same_vehicle: null,
      };
      const requested: Parameters = parameters;
      return applyParameters(result, requested);
    };
  },
};

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
