/**
 * How a damage is repaired, by its type, severity, part and material, and which panels a painter blends. Conventions of the
 * trade, without hours or prices. Pure.
 */
import type { DAMAGE_TYPES, MATERIALS, REPAIR_METHODS, SEVERITIES } from '../../contracts/vocabulary/damages.ts';
import type { Part } from '../../contracts/vocabulary/parts.ts';
import type { NOT_PRICED_REASONS } from '../../contracts/vocabulary/repairs.ts';

export type DamageType = (typeof DAMAGE_TYPES)[number];
export type Severity = (typeof SEVERITIES)[number];
export type Method = (typeof REPAIR_METHODS)[number];
export type Material = (typeof MATERIALS)[number];

export interface DamageToRepair {
  type: DamageType;
  /** Null if the part is unknown. */
  part: Part | null;
  severity: Severity | null;
  /** Overrides the rules. */
  method: Method | null;
  /** Of the part. When omitted, every panel counts as metal. */
  material?: Material | null;
}

export type Group = 'panel' | 'glass' | 'light' | 'wheel' | 'fitting';

/** The group of each part. */
const GROUPS: Readonly<Record<Part, Group>> = {
  front_bumper: 'panel',
  rear_bumper: 'panel',
  hood: 'panel',
  roof: 'panel',
  trunk_lid: 'panel',
  front_fender: 'panel',
  front_door: 'panel',
  rear_door: 'panel',
  quarter_panel: 'panel',
  rocker_panel: 'panel',
  a_pillar: 'panel',
  fuel_door: 'panel',
  mirror: 'panel',
  spoiler: 'panel',
  front_door_handle: 'panel',
  rear_door_handle: 'panel',
  grille: 'fitting',
  front_emblem: 'fitting',
  rear_emblem: 'fitting',
  front_plate: 'fitting',
  rear_plate: 'fitting',
  exhaust: 'fitting',
  antenna: 'fitting',
  windshield: 'glass',
  rear_windshield: 'glass',
  front_window: 'glass',
  rear_window: 'glass',
  headlight: 'light',
  fog_light: 'light',
  taillight: 'light',
  front_wheel: 'wheel',
  rear_wheel: 'wheel',
};

export const USUAL_SEVERITIES: Readonly<Record<DamageType, Severity>> = {
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

const COAT: readonly DamageType[] = ['scratch', 'scuff', 'chip', 'rust', 'paint_peeling'];
const SHAPE: readonly DamageType[] = ['dent', 'deformation', 'hail'];
const PAINTED = {
  groups: ['panel', 'wheel', 'fitting'],
  types: [...COAT, ...SHAPE, 'crack', 'puncture', 'misaligned_part'],
} as const satisfies Scope;

interface Scope {
  groups: readonly Group[];
  types: readonly DamageType[];
}

/** What each method can repair. A new part repairs everything; what is broken off or missing, nothing else does. */
const SCOPES: Readonly<Record<Exclude<Method, 'none' | 'replace'>, Scope>> = {
  polish: { groups: ['panel', 'glass', 'light', 'wheel', 'fitting'], types: ['scratch', 'scuff', 'dirt_or_stain'] },
  touch_up: { groups: PAINTED.groups, types: COAT },
  paintless_dent_repair: { groups: ['panel'], types: SHAPE },
  spot_repair: PAINTED,
  repair_and_paint: PAINTED,
  glass_repair: { groups: ['glass'], types: ['scratch', 'chip', 'crack'] },
};

const SEVERITY_RANKS: Readonly<Record<Severity, 0 | 1 | 2 | 3>> = { minor: 0, moderate: 1, severe: 2, critical: 3 };
/** Work of each severity relative to a moderate damage. */
export const WORK_FACTORS: Readonly<Record<Severity, number>> = { minor: 0.8, moderate: 1, severe: 1.4, critical: 1.8 };

/** Whether a method can repair a type of damage on a part. Damage may also be left alone. */
export function repairs(method: Method, { type, part }: { type: DamageType; part: Part }): boolean {
  if (method === 'none' || method === 'replace') return true;
  const { groups, types } = SCOPES[method];
  return groups.includes(GROUPS[part]) && types.includes(type);
}

/** Why a damage cannot be priced; null if it can. */
export function notPricedReason({ type, part, method }: DamageToRepair): (typeof NOT_PRICED_REASONS)[number] | null {
  if (type === 'dirt_or_stain') return 'cleaning_only';
  if (part === null) return 'part_unknown';
  return method === null || repairs(method, { type, part }) ? null : 'no_repair_data';
}

/** The stated method, or else the cheapest sound one. */
export function methodOf({ type, part, severity, method, material }: DamageToRepair & { part: Part }): Method {
  if (method !== null) return method;
  if (type === 'dirt_or_stain') return 'none';
  const grade = severity ?? USUAL_SEVERITIES[type];
  const group = GROUPS[part];
  if (group === 'panel') return onMaterial(PANEL_METHODS[type][SEVERITY_RANKS[grade]], material);
  return (grade === 'minor' ? MINOR_METHODS[group][type] : undefined) ?? 'replace';
}

/** A dent is pushed out of metal only. */
function onMaterial(method: Method, material: Material | null | undefined): Method {
  const isMetal = material === undefined || material === null || material === 'metal';
  return method === 'paintless_dent_repair' && !isMetal ? 'repair_and_paint' : method;
}

export const groupOf = (part: Part): Group => GROUPS[part];

const PLASTIC_PANELS: readonly Part[] = [
  'front_bumper',
  'rear_bumper',
  'mirror',
  'spoiler',
  'front_door_handle',
  'rear_door_handle',
];

/** The usual material of a part; null where it differs too much. */
export function usualMaterialOf(part: Part): Material | null {
  const group = groupOf(part);
  if (group === 'panel') return PLASTIC_PANELS.includes(part) ? 'plastic' : 'metal';
  if (group === 'fitting') return null;
  return ({ glass: 'glass', light: 'plastic', wheel: 'alloy' } as const)[group];
}

/** The panels beside a painted one, on whose paint a difference in colour would show. Those of bumpers lie too far apart. */
const NEIGHBOURS: Readonly<Partial<Record<Part, readonly Part[]>>> = {
  front_fender: ['front_door', 'hood'],
  front_door: ['front_fender', 'rear_door'],
  rear_door: ['front_door', 'quarter_panel'],
  quarter_panel: ['rear_door', 'trunk_lid'],
  hood: ['front_fender'],
  trunk_lid: ['quarter_panel'],
};

export const neighboursOf = (part: Part): readonly Part[] => NEIGHBOURS[part] ?? [];
