/**
 * Picture → tires, rims and their damages. The result states a type for every rim, so the type is part of the class. A
 * detector does not grade tread or determine the position on the vehicle: both stay null. A model for vehicles and their parts
 * finds tires with their position, and no rims or damages.
 */
import { RIM_DAMAGES, RIM_TYPES, SIDEWALL_DAMAGES } from '../../contracts/vocabulary/tires.ts';
import type { Model } from '../../inference/models/model.ts';
import { type Box, toBoundingBox } from '../../inference/toolkit/decoding/boxes.ts';
import { createDetectionPipeline } from '../../inference/toolkit/detection/detection-pipeline.ts';
import type { Detection } from '../../inference/toolkit/detection/detector.ts';
import { onlyPicture, type PipelineDefinition, type RunnablePipeline } from '../../inference/toolkit/pipeline.ts';
import { createPictureAssessor } from '../../inference/toolkit/quality/picture-assessment.ts';
import type { OutlinedPart } from '../../inference/toolkit/segmentation/part-outlines.ts';
import { createPartReader } from '../../inference/toolkit/segmentation/part-reader.ts';
import { findsVehicleParts, VEHICLE_PARTS } from '../../inference/toolkit/segmentation/vehicle-parts.ts';
import { applyParameters } from './apply-parameters.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type Tire = Result['tires'][number];
type Rim = Result['wheels'][number]['rim'];

const prefixed = <Prefix extends string, Name extends string>(prefix: Prefix, names: readonly Name[]) =>
  names.map((name): `${Prefix}.${Name}` => `${prefix}.${name}`);

const LABELS = [
  'tire',
  ...prefixed('rim', RIM_TYPES),
  ...prefixed('sidewall_damage', SIDEWALL_DAMAGES),
  ...prefixed('rim_damage', RIM_DAMAGES),
] as const;

type Found = Detection<(typeof LABELS)[number]>;

/** A detection of a class group, with its name within the group. */
interface Named<Name> {
  name: Name;
  found: Found;
}

const detection = createDetectionPipeline({
  tasks: ['tire-detection'],
  labels: LABELS,
  createAssessor: createPictureAssessor,
  toResult: (found, { quality_issues }, parameters: Parameters) =>
    applyParameters({ ...tiresAndWheels(found), quality_issues }, parameters),
});

export const pipeline: PipelineDefinition = {
  tasks: [...detection.tasks, VEHICLE_PARTS],
  create: (model) => (findsVehicleParts(model) ? createTireFinder(model) : detection.create(model)),
};

function createTireFinder(model: Model): RunnablePipeline {
  const read = createPartReader(model);
  return async ({ pictures, parameters }) => {
    const requested: Parameters = parameters;
    const { parts, assessment } = await read(await onlyPicture(pictures));
    const wheels = parts.filter(({ part }) => part === 'front_wheel' || part === 'rear_wheel');
    const tires = wheels.toSorted((a, b) => b.confidence - a.confidence).map(toTire);
    return applyParameters({ tires, wheels: [], quality_issues: assessment.quality_issues }, requested);
  };
}

function toTire({ part, side, confidence, box }: OutlinedPart, index: number): Tire {
  const axle = part === 'front_wheel' ? 'front' : 'rear';
  return {
    id: `tire_${index + 1}`,
    position: side === 'left' || side === 'right' ? { value: `${axle}_${side}`, confidence } : null,
    confidence,
    bbox: toBoundingBox(box),
    tread: null,
    sidewall_damages: [],
  };
}

function tiresAndWheels(found: readonly Found[]): Pick<Result, 'tires' | 'wheels'> {
  const tireBoxes = found.filter(({ label }) => label === 'tire');
  const rims = ofGroup(found, 'rim', RIM_TYPES);
  const rimBoxes = rims.map((rim) => rim.found);
  const sidewallDamages = ofGroup(found, 'sidewall_damage', SIDEWALL_DAMAGES);
  const rimDamages = ofGroup(found, 'rim_damage', RIM_DAMAGES);

  const tires = tireBoxes.map(
    (tire, index): Tire => ({
      id: `tire_${index + 1}`,
      position: null,
      confidence: tire.confidence,
      bbox: toBoundingBox(tire.box),
      tread: null,
      sidewall_damages: damagesOn(tire, sidewallDamages, tireBoxes),
    }),
  );
  const wheels = rims.map(({ name, found: rim }, index) => {
    const tire = holderOf(rim.box, tireBoxes);
    const statement: Rim = {
      type: { value: name, confidence: rim.confidence },
      bbox: toBoundingBox(rim.box),
      damages: damagesOn(rim, rimDamages, rimBoxes),
    };
    return {
      id: `wheel_${index + 1}`,
      tire_id: tire ? `tire_${tireBoxes.indexOf(tire) + 1}` : null,
      confidence: rim.confidence,
      bbox: toBoundingBox((tire ?? rim).box),
      rim: statement,
    };
  });
  return { tires, wheels };
}

/** Those whose label is `<group>.<name>`. */
function ofGroup<const Name extends string>(
  found: readonly Found[],
  group: string,
  names: readonly Name[],
): Named<Name>[] {
  return found.flatMap((each) => {
    const name = names.find((candidate) => each.label === `${group}.${candidate}`);
    return name === undefined ? [] : [{ name, found: each }];
  });
}

/** The damages on `thing`: those for which it is the smallest of `things` around them. */
function damagesOn<Name>(thing: Found, damages: readonly Named<Name>[], things: readonly Found[]) {
  return damages
    .filter(({ found }) => holderOf(found.box, things) === thing)
    .map(({ name, found }) => ({ type: name, confidence: found.confidence, bbox: toBoundingBox(found.box) }));
}

/** The smallest of `things` that contains the centre of `box`. */
function holderOf(box: Box, things: readonly Found[]): Found | undefined {
  const [x, y] = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2];
  return things
    .filter(({ box: { x0, y0, x1, y1 } }) => x >= x0 && x < x1 && y >= y0 && y < y1)
    .toSorted((a, b) => areaOf(a.box) - areaOf(b.box))[0];
}

function areaOf({ x0, y0, x1, y1 }: Box): number {
  return (x1 - x0) * (y1 - y0);
}
