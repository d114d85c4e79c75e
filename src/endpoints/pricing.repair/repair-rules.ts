/**
 * How a damage is repaired and how much work that takes, by its type, severity and part. The figures are typical of a
 * mid-size car and in the euro cents of the fixtures. Pure.
 */
import type { DAMAGE_TYPES, REPAIR_METHODS, SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import type { Part } from '../../contracts/vocabulary/parts.ts';
import type { NOT_PRICED_REASONS } from '../../contracts/vocabulary/repairs.ts';

export type DamageType = (typeof DAMAGE_TYPES)[number];
export type Severity = (typeof SEVERITIES)[number];
export type Method = (typeof REPAIR_METHODS)[number];

export interface DamageToRepair {
  type: DamageType;
  /** Null if the part is unknown. */
  part: Part | null;
  severity: Severity | null;
  /** Overrides the rules. */
  method: Method | null;
}

export interface Work {
  labourHours: number;
  paintHours: number;
  /** Euro cents. */
  paintMaterials: number;
}

type Group = 'panel' | 'glass' | 'light' | 'wheel' | 'fitting';

/** The group of each part, and the price of a new one in euro cents. */
const PARTS: Readonly<Record<Part, readonly [Group, price: number]>> = {
  front_bumper: ['panel', 45_900],
  rear_bumper: ['panel', 41_900],
  hood: ['panel', 52_000],
  roof: ['panel', 68_000],
  trunk_lid: ['panel', 56_000],
  front_fender: ['panel', 24_500],
  front_door: ['panel', 61_000],
  rear_door: ['panel', 58_500],
  quarter_panel: ['panel', 64_000],
  rocker_panel: ['panel', 21_000],
  a_pillar: ['panel', 28_000],
  fuel_door: ['panel', 6_900],
  mirror: ['panel', 19_900],
  spoiler: ['panel', 23_000],
  front_door_handle: ['panel', 5_400],
  rear_door_handle: ['panel', 5_400],
  grille: ['fitting', 14_800],
  front_emblem: ['fitting', 3_200],
  rear_emblem: ['fitting', 2_900],
  front_plate: ['fitting', 2_500],
  rear_plate: ['fitting', 2_500],
  exhaust: ['fitting', 31_000],
  antenna: ['fitting', 4_200],
  windshield: ['glass', 43_000],
  rear_windshield: ['glass', 36_500],
  front_window: ['glass', 13_500],
  rear_window: ['glass', 12_900],
  headlight: ['light', 48_900],
  fog_light: ['light', 9_800],
  taillight: ['light', 17_900],
  front_wheel: ['wheel', 32_000],
  rear_wheel: ['wheel', 32_000],
};

const USUAL_SEVERITIES: Readonly<Record<DamageType, Severity>> = {
  scratch: 'minor',
  scuff: 'minor',
  dent: 'moderate',
  crack: 'moderate',
  chip: 'minor',
  broken_glass: 'severe',
  broken_light: 'severe',
  missing_part: 'severe',
  misaligned_part: 'moderate',
  deformation: 'severe',
  rust: 'moderate',
  paint_peeling: 'moderate',
  hail: 'moderate',
  puncture: 'moderate',
  dirt_or_stain: 'minor',
};

type BySeverity = readonly [minor: Method, moderate: Method, severe: Method, critical: Method];
const REPLACE: BySeverity = ['replace', 'replace', 'replace', 'replace'];

/** Methods on painted panels. Dirt needs cleaning only, and no repair. */
const PANEL_METHODS: Readonly<Record<Exclude<DamageType, 'dirt_or_stain'>, BySeverity>> = {
  scratch: ['polish', 'touch_up', 'repair_and_paint', 'repair_and_paint'],
  scuff: ['polish', 'spot_repair', 'repair_and_paint', 'replace'],
  dent: ['paintless_dent_repair', 'paintless_dent_repair', 'repair_and_paint', 'replace'],
  crack: ['spot_repair', 'repair_and_paint', 'replace', 'replace'],
  chip: ['touch_up', 'touch_up', 'repair_and_paint', 'repair_and_paint'],
  broken_glass: REPLACE,
  broken_light: REPLACE,
  missing_part: REPLACE,
  misaligned_part: ['spot_repair', 'spot_repair', 'repair_and_paint', 'replace'],
  deformation: ['paintless_dent_repair', 'repair_and_paint', 'replace', 'replace'],
  rust: ['touch_up', 'spot_repair', 'repair_and_paint', 'replace'],
  paint_peeling: ['spot_repair', 'repair_and_paint', 'repair_and_paint', 'repair_and_paint'],
  hail: ['paintless_dent_repair', 'paintless_dent_repair', 'paintless_dent_repair', 'replace'],
  puncture: ['spot_repair', 'repair_and_paint', 'replace', 'replace'],
};

/** Methods on other parts: minor surface damage is repaired, everything else replaced. */
const MINOR_METHODS: Readonly<Record<Exclude<Group, 'panel'>, Partial<Record<DamageType, Method>>>> = {
  glass: { scratch: 'polish', scuff: 'polish', chip: 'glass_repair', crack: 'glass_repair' },
  light: { scratch: 'polish', scuff: 'polish' },
  wheel: { scratch: 'spot_repair', scuff: 'spot_repair', chip: 'spot_repair' },
  fitting: { scratch: 'polish', scuff: 'polish', misaligned_part: 'spot_repair' },
};

const SEVERITY_RANKS: Readonly<Record<Severity, 0 | 1 | 2 | 3>> = { minor: 0, moderate: 1, severe: 2, critical: 3 };
/** Work of each severity relative to a moderate damage. */
const WORK_FACTORS: Readonly<Record<Severity, number>> = { minor: 0.8, moderate: 1, severe: 1.4, critical: 1.8 };

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

/** Why a damage cannot be priced; null if it can. */
export function notPricedReason({ type, part }: DamageToRepair): (typeof NOT_PRICED_REASONS)[number] | null {
  if (type === 'dirt_or_stain') return 'cleaning_only';
  return part === null ? 'part_unknown' : null;
}

/** The stated method, or else the cheapest sound one. */
export function methodOf({ type, part, severity, method }: DamageToRepair & { part: Part }): Method {
  if (method !== null) return method;
  if (type === 'dirt_or_stain') return 'none';
  const grade = severity ?? USUAL_SEVERITIES[type];
  const [group] = PARTS[part];
  if (group === 'panel') return PANEL_METHODS[type][SEVERITY_RANKS[grade]];
  return (grade === 'minor' ? MINOR_METHODS[group][type] : undefined) ?? 'replace';
}

export function workOf(method: Method, { type, part, severity }: DamageToRepair & { part: Part }): Work {
  if (method === 'replace') return REPLACEMENT[PARTS[part][0]];
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
  return PARTS[part][1];
}

const toTenths = (hours: number) => Math.round(hours * 10) / 10;
