/** Test mode: the work of each method and the prices of parts, typical of a mid-size car, in the euro cents of the fixtures. */
import type { Part } from '../../contracts/vocabulary/parts.ts';
import {
  type DamageToRepair,
  type Group,
  groupOf,
  type Method,
  USUAL_SEVERITIES,
  WORK_FACTORS,
} from '../shared/repair-rules.ts';

export interface Work {
  labourHours: number;
  paintHours: number;
  /** Euro cents. */
  paintMaterials: number;
}

const PRICES: Readonly<Record<Part, number>> = {
  front_bumper: 45_900,
  rear_bumper: 41_900,
  hood: 52_000,
  roof: 68_000,
  trunk_lid: 56_000,
  front_fender: 24_500,
  front_door: 61_000,
  rear_door: 58_500,
  quarter_panel: 64_000,
  rocker_panel: 21_000,
  a_pillar: 28_000,
  fuel_door: 6_900,
  mirror: 19_900,
  spoiler: 23_000,
  front_door_handle: 5_400,
  rear_door_handle: 5_400,
  grille: 14_800,
  front_emblem: 3_200,
  rear_emblem: 2_900,
  front_plate: 2_500,
  rear_plate: 2_500,
  exhaust: 31_000,
  antenna: 4_200,
  windshield: 43_000,
  rear_windshield: 36_500,
  front_window: 13_500,
  rear_window: 12_900,
  headlight: 48_900,
  fog_light: 9_800,
  taillight: 17_900,
  front_wheel: 32_000,
  rear_wheel: 32_000,
};

const WORK: Readonly<Record<Exclude<Method, 'replace'>, Work>> = {
  none: { labourHours: 0, paintHours: 0, paintMaterials: 0 },
  polish: { labourHours: 0.6, paintHours: 0, paintMaterials: 0 },
  touch_up: { labourHours: 0.4, paintHours: 0.4, paintMaterials: 1_800 },
  paintless_dent_repair: { labourHours: 1.4, paintHours: 0, paintMaterials: 0 },
  spot_repair: { labourHours: 0.6, paintHours: 1.4, paintMaterials: 4_800 },
  repair_and_paint: { labourHours: 1.2, paintHours: 2.8, paintMaterials: 10_400 },
  glass_repair: { labourHours: 0.7, paintHours: 0, paintMaterials: 0 },
};
/** A new part takes the same work whatever the damage. Panels are painted. */
const REPLACEMENT: Readonly<Record<Group, Work>> = {
  panel: { labourHours: 1.6, paintHours: 2.8, paintMaterials: 10_400 },
  glass: { labourHours: 2.2, paintHours: 0, paintMaterials: 0 },
  light: { labourHours: 0.8, paintHours: 0, paintMaterials: 0 },
  wheel: { labourHours: 0.5, paintHours: 0, paintMaterials: 0 },
  fitting: { labourHours: 0.4, paintHours: 0, paintMaterials: 0 },
};

export function workOf(method: Method, { type, part, severity }: DamageToRepair & { part: Part }): Work {
  if (method === 'replace') return REPLACEMENT[groupOf(part)];
  const { labourHours, paintHours, paintMaterials } = WORK[method];
  const factor = WORK_FACTORS[severity ?? USUAL_SEVERITIES[type]];
  return {
    labourHours: toTenths(labourHours * factor),
    paintHours: toTenths(paintHours * factor),
    paintMaterials: Math.round(paintMaterials * factor),
  };
}

/** Price of a new original part in euro cents. */
export function priceOfPart(part: Part): number {
  return PRICES[part];
}

const toTenths = (hours: number) => Math.round(hours * 10) / 10;
