/** A network that outlines damages in cells of 8 × 8 pixels, beside one that sees a vehicle and its parts: for tests of pipelines. */
import type { Model } from '../../../src/inference/models/model.ts';
import { partCells } from './part-cells.ts';
import { modelSaying } from './saying-model.ts';

type Cells = Readonly<Record<string, readonly (readonly [number, number])[]>>;

/** Cells from one corner to another, both included. */
export function cellsWithin([x0, y0]: [number, number], [x1, y1]: [number, number]): [number, number][] {
  const columns = Array.from({ length: x1 - x0 + 1 }, (_, index) => x0 + index);
  return Array.from({ length: y1 - y0 + 1 }, (_, index) => y0 + index).flatMap((y) =>
    columns.map((x): [number, number] => [x, y]),
  );
}

/**
 * @param parts cells by the label of the part; `vehicle` are those of the vehicle as a whole
 * @param sure confidence from which that is a vehicle; with damage on it, half is enough
 */
export function damageModel(damages: Cells, { vehicle, ...parts }: Cells, sure = 0.5): Model {
  const detector = partCells(damages);
  const joined = { ...detector, decoder: { ...detector.decoder, joined: 0.5 } };
  const car = partCells({ car: vehicle ?? [] });
  const seesParts = modelSaying(
    { detector: partCells(parts), vehicle: { ...car, decoder: { ...car.decoder, score: sure } } },
    {},
    'vehicle-parts',
  );
  const model = modelSaying({ detector: joined }, { parts: seesParts }, 'damage-segmentation');
  return { ...model, manifest: { ...model.manifest, thresholds: { vehicle: 0.5 } } };
}
