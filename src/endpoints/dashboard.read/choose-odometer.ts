/** Decides between the cluster's own networks and print. Readings that disagree are none, unless one of them knows better. */
import { ENOUGH_EVIDENCE, overlaps, type PrintedOdometer } from './printed-odometer.ts';
import type { Reading } from './reading.ts';

type Odometer = NonNullable<Reading['odometer']>;

/** The least certain character of a reading without a second one. */
const SURE = 0.9;
/** A reading of the cluster's own networks that nothing supports: trained on drawings, they are often wrong on photographs. */
const SURE_ALONE = 0.97;
/** Fewer are drums that a box has cut: they show five digits or more, and rarely with a zero in front. */
const LEAST_ON_DRUMS = 10_000;
/** Two numbers with about the same evidence are told apart by nothing. */
const CLEAR_LEAD = 1;

/**
 * @param ofCluster of the network that was trained on clusters
 * @param printed of the lines of print, the likeliest first
 */
export function chooseOdometer(ofCluster: Odometer | null, printed: readonly PrintedOdometer[]): Odometer | null {
  const isCut = ofCluster?.label === 'odometer_analogue' && ofCluster.value < LEAST_ON_DRUMS;
  const own = isCut ? null : ofCluster;
  const best = soleLeader(printed);
  const likely = printed.filter(({ evidence }) => evidence >= ENOUGH_EVIDENCE);
  const agreeing = own && likely.find((each) => each.value === own.value && overlaps(each.box, own.box));
  if (own && agreeing && (!best || best.evidence <= agreeing.evidence)) return agreed(own, agreeing);
  const there = own && printed.find(({ box }) => overlaps(box, own.box));
  if (!own || !there || (best && best.evidence > there.evidence)) {
    if (best) return fromPrint(best, there ? undefined : own?.label);
    return own && own.confidence >= SURE_ALONE ? own : null;
  }
  // One place, two readings. Half-turned drums are what the cluster's reader was trained for.
  if (own.label === 'odometer_analogue' && own.confidence >= SURE) return own;
  // Cut digits are the most common mistake, so the longer reading is the whole one.
  if (there.value !== own.value && String(own.value).includes(String(there.value))) return own;
  if (there.evidence < ENOUGH_EVIDENCE) return null;
  if (there.confidence < SURE && own.confidence < SURE_ALONE) return null;
  return there.confidence > own.confidence ? fromPrint(there, own.label) : own;
}

/** The likeliest number, if its evidence suffices and no other number has as much. */
function soleLeader(printed: readonly PrintedOdometer[]): PrintedOdometer | null {
  const [best] = printed;
  if (!best || best.evidence < ENOUGH_EVIDENCE || best.confidence < SURE) return null;
  const rival = printed.find(({ value }) => value !== best.value);
  return rival && best.evidence - rival.evidence < CLEAR_LEAD ? null : best;
}

function agreed(own: Odometer, printed: PrintedOdometer): Odometer {
  const label = printed.hasUnitInLine ? 'odometer_digital' : own.label;
  // Independent networks: wrong only if both are.
  const confidence = 1 - (1 - own.confidence) * (1 - printed.confidence);
  return { ...own, label, confidence, unit: printed.unit ?? own.unit };
}

function fromPrint(printed: PrintedOdometer, label: Odometer['label'] | undefined): Odometer {
  const { value, unit, confidence, box, hasUnitInLine } = printed;
  // A unit in the line of the digits is never drums; without any sign a display is by far the more common.
  const isDigital = hasUnitInLine || label === undefined;
  return { value, unit, confidence, box, score: confidence, label: isDigital ? 'odometer_digital' : label };
}
