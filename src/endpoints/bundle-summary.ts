/** Merges what a bundle's endpoints found on its pictures: of each fact the reading that is surest. */
import type { BundleSummary } from '../contracts/vocabulary/bundle-schemas.ts';
import type { BODY_TYPES } from '../contracts/vocabulary/vehicles.ts';
import { VIEWS } from '../contracts/vocabulary/views.ts';
import type { TaskOutcomes } from './bundled-tasks.ts';

type BodyType = (typeof BODY_TYPES)[number];

/** Of the outcomes of each picture, in the order of the pictures. */
export function summarize(pictures: readonly TaskOutcomes[]): BundleSummary {
  const identityOf = (outcomes: TaskOutcomes) => outcomes['vehicle.identify']?.result;
  const views = pictures.map((outcomes) => outcomes['vehicle.pose']?.result?.view?.value);
  return {
    views: VIEWS.filter((view) => views.includes(view)),
    vehicle: surest(
      pictures,
      (outcomes) => identityOf(outcomes)?.candidates[0],
      ({ make, model, generation }) => ({ make, model, generation }),
    ),
    body_type: surest(
      pictures,
      (outcomes) => identityOf(outcomes)?.body_type,
      ({ value }) => ({ value: value as BodyType }),
    ),
    color: surest(
      pictures,
      (outcomes) => identityOf(outcomes)?.color,
      ({ value }) => ({ value }),
    ),
    vin: surest(
      pictures,
      (outcomes) => outcomes['vin.read']?.result?.vin,
      ({ text }) => ({ text }),
    ),
    plate: surest(
      pictures,
      (outcomes) => outcomes['plate.read']?.result?.plates[0],
      ({ text }) => ({ text }),
    ),
    odometer: surest(
      pictures,
      (outcomes) => outcomes['dashboard.read']?.result?.odometer,
      ({ value, unit }) => ({ value, unit }),
    ),
  };
}

interface Sure {
  confidence: number;
}

function surest<Reading extends Sure, Fact extends object>(
  pictures: readonly TaskOutcomes[],
  read: (outcomes: TaskOutcomes) => Reading | null | undefined,
  factOf: (reading: Reading) => Fact,
): (Fact & Sure & { source_index: number }) | null {
  const readings = pictures.flatMap((outcomes, source_index) => {
    const reading = read(outcomes);
    return reading ? [{ reading, source_index }] : [];
  });
  const [best] = readings.toSorted((a, b) => b.reading.confidence - a.reading.confidence);
  if (!best) return null;
  return { ...factOf(best.reading), confidence: best.reading.confidence, source_index: best.source_index };
}
