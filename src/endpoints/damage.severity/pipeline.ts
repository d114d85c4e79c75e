/**
 * Picture and damages → severity and repair method of each. With a model for damage grading, classifiers see one damage at a
 * time and cannot grade the whole vehicle: `overall` stays null. With one that outlines damages, rules grade them.
 */
import { DAMAGE_TYPES, MATERIALS, REPAIR_METHODS, SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import { type Model, usedModel } from '../../inference/models/model.ts';
import { type Box, expandBox, fromBoundingBox, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import {
  type Classifier,
  createClassifier,
  createOptionalClassifier,
} from '../../inference/toolkit/detection/classifier.ts';
import { createDetector } from '../../inference/toolkit/detection/detector.ts';
import { resample } from '../../inference/toolkit/images/resample.ts';
import type { RgbImage } from '../../inference/toolkit/images/rgb-image.ts';
import { onlyPicture, type PipelineDefinition } from '../../inference/toolkit/pipeline.ts';
import { DAMAGE_SEGMENTATION } from '../shared/damage-finder.ts';
import { createRuleGrader } from './grade-by-rules.ts';
import { withReferences } from './references.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Requested = NonNullable<Parameters['damages']>[number];
type Graded = Result['damages'][number];

/** Fraction by which a damage's box grows on each side: severity shows against the surroundings. */
const MARGIN = 0.25;

export const pipeline: PipelineDefinition = {
  tasks: ['damage-grading', DAMAGE_SEGMENTATION],
  create: (model) => {
    if (model.manifest.task === DAMAGE_SEGMENTATION) return createRuleGrader(model, worstFirst);
    const grade = createGrader(model);
    const detect = createDetector(usedModel(model, 'damages'), DAMAGE_TYPES);
    return async ({ pictures, parameters }) => {
      const picture = await onlyPicture(pictures);
      const { damages: requested } = parameters as Parameters;
      const damages: Graded[] = [];
      for (const damage of requested ??
        (await detect(picture)).map(({ label, box }) => ({ ...foundDamage(label, box) }))) {
        const graded = await grade(picture, damage, `damage_${damages.length + 1}`);
        if (graded) damages.push(graded);
      }
      const result: Result = { overall: null, damages: requested ? damages : worstFirst(damages), quality_issues: [] };
      return result;
    };
  },
  withReferences: async (parameters, readResult) => ({ ...(await withReferences(parameters, readResult)) }),
};

function foundDamage(type: Graded['type'], box: Box): Requested {
  return { type, part: null, side: null, bbox: toBoundingBox(box) };
}

/** Returns null if a classifier rejects the damage: it is not visible. */
function createGrader(model: Model): (picture: RgbImage, damage: Requested, id: string) => Promise<Graded | null> {
  const type = createOptionalClassifier(model, 'type', DAMAGE_TYPES);
  const severity = createClassifier(model, 'severity', SEVERITIES);
  const method = createClassifier(model, 'method', REPAIR_METHODS);
  const material = createOptionalClassifier(model, 'material', MATERIALS);
  const paint = createClassifier(model, 'paint', YES_OR_NO);
  const safety = createClassifier(model, 'safety', YES_OR_NO);
  return async (picture, damage, id) => {
    const crop = cropOf(picture, damage.bbox);
    const said = {
      type: damage.type ?? (await type(crop))[0]?.label,
      severity: await first(severity, crop),
      repair_method: await first(method, crop),
      paint_required: assessed(await first(paint, crop)),
      safety_relevant: assessed(await first(safety, crop)),
    };
    if (!said.type || !said.severity || !said.repair_method || !said.paint_required || !said.safety_relevant)
      return null;
    return {
      id: damage.id ?? id,
      type: said.type,
      part: damage.part ?? null,
      side: damage.side ?? null,
      bbox: damage.bbox,
      severity: said.severity,
      repair_method: said.repair_method,
      material: await first(material, crop),
      paint_required: said.paint_required,
      safety_relevant: said.safety_relevant,
    };
  };
}

const YES_OR_NO = ['yes', 'no'] as const;

async function first<Label extends string>(classify: Classifier<Label>, picture: RgbImage) {
  const [likeliest] = await classify(picture);
  return likeliest ? { value: likeliest.label, confidence: likeliest.confidence } : null;
}

function assessed(said: { value: 'yes' | 'no'; confidence: number } | null): Graded['paint_required'] | null {
  return said && { value: said.value === 'yes', confidence: said.confidence };
}

function cropOf(picture: RgbImage, bbox: Graded['bbox']): RgbImage {
  const box = expandBox(fromBoundingBox(bbox), MARGIN, MARGIN, picture);
  const x0 = Math.min(Math.floor(box.x0), picture.width - 1);
  const y0 = Math.min(Math.floor(box.y0), picture.height - 1);
  const whole = {
    x0,
    y0,
    x1: Math.max(x0 + 1, Math.min(Math.ceil(box.x1), picture.width)),
    y1: Math.max(y0 + 1, Math.min(Math.ceil(box.y1), picture.height)),
  };
  return resample(picture, whole, whole.x1 - whole.x0, whole.y1 - whole.y0);
}

function worstFirst(damages: readonly Graded[]): Graded[] {
  const rank = ({ severity }: Graded) => SEVERITIES.indexOf(severity.value);
  return damages.toSorted((a, b) => rank(b) - rank(a) || b.severity.confidence - a.severity.confidence);
}
