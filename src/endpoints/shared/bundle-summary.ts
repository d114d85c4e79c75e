/** Merges the outcomes of a bundle: for each fact, the most confident reading. */
import type { BundleSummary } from '../../contracts/vocabulary/bundles.ts';
import { VIEWS } from '../../contracts/vocabulary/pictures.ts';
import type { Result as PlateResult } from '../plate.read/result.ts';
import type { TaskOutcomes } from './bundled-tasks.ts';

type Plate = PlateResult['plates'][number];

/** @param pictures outcomes per picture, in the order of the request */
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
      ({ value }) => ({ value }),
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
      (outcomes) => outcomes['plate.read']?.result?.plates.find(isReadable),
      ({ text }) => ({ text }),
    ),
    odometer: surest(
      pictures,
      (outcomes) => outcomes['dashboard.read']?.result?.odometer,
      ({ value, unit }) => ({ value, unit }),
    ),
  };
}

/** A plate that was found but cannot be read says nothing about the vehicle. */
function isReadable(plate: Plate): plate is Plate & { text: string } {
  return plate.text !== null;
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
