/**
 * Grades of a damage by rules over its type, extent and part. `docs/models.md` states them. They are conventions of the trade,
 * not measurements, and so are their confidences. Pure.
 */
import {
  type DAMAGE_TYPES,
  type MATERIALS,
  type REPAIR_METHODS,
  SEVERITIES,
} from '../../contracts/vocabulary/damages.ts';
import type { Part } from '../../contracts/vocabulary/parts.ts';
import type { Result } from './result.ts';

type DamageType = (typeof DAMAGE_TYPES)[number];
type Severity = (typeof SEVERITIES)[number];
type Method = (typeof REPAIR_METHODS)[number];
type Material = (typeof MATERIALS)[number];

/** How much of a vehicle a damage covers; what is unknown is null. */
export interface Extent {
  lengthMm: number | null;
  /** Shares from 0 to 1. */
  partShare: number | null;
  vehicleShare: number | null;
}

export interface Damage {
  type: DamageType;
  /** That it is of this type, 0 to 1. */
  confidence: number;
  part: Part | null;
  extent: Extent;
}

export type Grade = Pick<
  Result['damages'][number],
  'severity' | 'repair_method' | 'material' | 'paint_required' | 'safety_relevant'
>;

/** Upper bounds of a small and of a medium damage, the best known first, with how far each is to be trusted. */
const BOUNDS = [
  { of: 'lengthMm', small: 60, medium: 300, confidence: 0.8 },
  { of: 'partShare', small: 0.02, medium: 0.2, confidence: 0.7 },
  { of: 'vehicleShare', small: 0.003, medium: 0.04, confidence: 0.6 },
] as const;
const UNKNOWN_EXTENT = { size: 1, confidence: 0.4 } as const;

type BySize = readonly [small: Severity, medium: Severity, large: Severity];
const BY_TYPE: Readonly<Record<DamageType, BySize>> = {
  scratch: ['minor', 'minor', 'moderate'],
  scuff: ['minor', 'moderate', 'moderate'],
  chip: ['minor', 'minor', 'moderate'],
  paint_peeling: ['minor', 'moderate', 'moderate'],
  dirt_or_stain: ['minor', 'minor', 'minor'],
  rust: ['minor', 'moderate', 'severe'],
  dent: ['minor', 'moderate', 'severe'],
  hail: ['minor', 'moderate', 'moderate'],
  crack: ['moderate', 'moderate', 'severe'],
  puncture: ['moderate', 'severe', 'severe'],
  misaligned_part: ['moderate', 'moderate', 'severe'],
  deformation: ['moderate', 'severe', 'critical'],
  broken_glass: ['severe', 'severe', 'severe'],
  broken_light: ['severe', 'severe', 'severe'],
  missing_part: ['severe', 'severe', 'severe'],
};

/** Parts of the structure: a change of their shape is critical. */
const STRUCTURE: readonly (Part | null)[] = ['a_pillar', 'roof', 'rocker_panel'];
const SHAPE: readonly DamageType[] = ['dent', 'deformation', 'puncture'];
const COAT: readonly DamageType[] = ['scratch', 'scuff', 'chip', 'paint_peeling', 'rust'];

const GLASS: readonly (Part | null)[] = ['windshield', 'rear_windshield', 'front_window', 'rear_window'];
const LIGHTS: readonly (Part | null)[] = ['headlight', 'taillight', 'fog_light'];
const WHEELS: readonly (Part | null)[] = ['front_wheel', 'rear_wheel'];
/** Damage here is relevant to safety from a moderate grade on; blemishes of the coat are not. */
const OF_SAFETY = [...GLASS, ...LIGHTS, ...WHEELS, ...STRUCTURE];
const PLASTIC: readonly (Part | null)[] = [
  'front_bumper',
  'rear_bumper',
  'grille',
  'mirror',
  'spoiler',
  'front_emblem',
  'rear_emblem',
  ...LIGHTS,
];
/** Made of metal or of plastic, by the vehicle. */
const EITHER: readonly (Part | null)[] = [
  'front_plate',
  'rear_plate',
  'front_door_handle',
  'rear_door_handle',
  'antenna',
  'fuel_door',
];
const UNPAINTED: readonly (Part | null)[] = [
  ...GLASS,
  ...LIGHTS,
  ...WHEELS,
  'grille',
  'exhaust',
  'front_plate',
  'rear_plate',
  'front_emblem',
  'rear_emblem',
  'antenna',
];

export function gradeOf(damage: Damage): Grade {
  const { type, part } = damage;
  const { size, confidence: known } = sizeOf(damage.extent);
  const severity = severityOf(type, part, size);
  const method = methodOf(type, part, severity);
  const material = materialOf(type, part);
  const confidence = rounded(damage.confidence * known);
  const ofPart = rounded(damage.confidence * (part === null ? 0.5 : 0.8));
  return {
    severity: { value: severity, confidence },
    repair_method: { value: method, confidence },
    material: material === null ? null : { value: material, confidence: ofPart },
    paint_required: { value: needsPaint(method, part), confidence },
    safety_relevant: { value: isOfSafety(type, part, severity), confidence: ofPart },
  };
}

/** 0 small, 1 medium, 2 large. Without an extent a damage counts as medium. */
function sizeOf(extent: Extent): { size: 0 | 1 | 2; confidence: number } {
  for (const { of, small, medium, confidence } of BOUNDS) {
    const value = extent[of];
    if (value === null) continue;
    return { size: value < small ? 0 : value < medium ? 1 : 2, confidence };
  }
  return UNKNOWN_EXTENT;
}

function severityOf(type: DamageType, part: Part | null, size: 0 | 1 | 2): Severity {
  if (SHAPE.includes(type) && STRUCTURE.includes(part) && size > 0) return 'critical';
  // Glass, lamps and rims do not bend: what dents them breaks them.
  if (SHAPE.includes(type) && [...GLASS, ...LIGHTS, ...WHEELS].includes(part)) return 'severe';
  return BY_TYPE[type][size];
}

function methodOf(type: DamageType, part: Part | null, severity: Severity): Method {
  if (type === 'dirt_or_stain') return 'none';
  const isBad = severity === 'severe' || severity === 'critical';
  if (GLASS.includes(part) || type === 'broken_glass') {
    return (type === 'chip' || type === 'crack') && severity === 'minor' ? 'glass_repair' : coatOr(type, 'replace');
  }
  if (LIGHTS.includes(part) || type === 'broken_light' || type === 'missing_part') return coatOr(type, 'replace');
  if (WHEELS.includes(part)) return isBad ? 'replace' : 'spot_repair';
  if (severity === 'critical') return 'replace';
  if (type === 'chip') return 'touch_up';
  if (type === 'scratch' || type === 'scuff') return severity === 'minor' ? 'polish' : 'repair_and_paint';
  if (type === 'dent' || type === 'hail') return isBad ? 'repair_and_paint' : 'paintless_dent_repair';
  if (type === 'deformation' || type === 'crack' || type === 'puncture') return isBad ? 'replace' : 'repair_and_paint';
  return severity === 'minor' ? 'spot_repair' : 'repair_and_paint';
}

/** Marks on what is not painted are polished out; anything else needs the other method. */
function coatOr(type: DamageType, method: Method): Method {
  return type === 'scratch' || type === 'scuff' ? 'polish' : method;
}

function materialOf(type: DamageType, part: Part | null): Material | null {
  if (GLASS.includes(part) || type === 'broken_glass') return 'glass';
  if (type === 'broken_light') return 'plastic';
  if (WHEELS.includes(part)) return type === 'puncture' ? 'rubber' : 'alloy';
  if (PLASTIC.includes(part)) return 'plastic';
  return part === null || EITHER.includes(part) ? null : 'metal';
}

function needsPaint(method: Method, part: Part | null): boolean {
  if (method === 'spot_repair' || method === 'repair_and_paint')
    return !UNPAINTED.includes(part) || WHEELS.includes(part);
  return method === 'replace' && part !== null && !UNPAINTED.includes(part);
}

function isOfSafety(type: DamageType, part: Part | null, severity: Severity): boolean {
  if (severity === 'critical' || type === 'broken_glass' || type === 'broken_light') return true;
  return OF_SAFETY.includes(part) && severity !== 'minor' && !COAT.includes(type);
}

/** More than this is not said of what an outline of severe damage does not show: what lies behind the panel. */
const UNSEEN = 0.5;

/**
 * The vehicle as a whole: as bad as its worst damage. From a severe damage on it is not called drivable: what lies behind the panel
 * is not seen. Two critical damages make a total loss.
 * @returns null without a damage
 */
export function overallOf(damages: readonly Result['damages'][number][]): Result['overall'] {
  const rank = (damage: (typeof damages)[number]) => SEVERITIES.indexOf(damage.severity.value);
  const [worst] = damages.toSorted((a, b) => rank(b) - rank(a) || b.severity.confidence - a.severity.confidence);
  if (!worst) return null;
  const { confidence } = worst.severity;
  const isSevere = rank(worst) >= SEVERITIES.indexOf('severe');
  const isLost = damages.filter(({ severity }) => severity.value === 'critical').length > 1;
  return {
    severity: worst.severity,
    drivable: { value: !isSevere, confidence },
    total_loss: { value: isLost, confidence: isSevere && !isLost ? Math.min(confidence, UNSEEN) : confidence },
  };
}

function rounded(confidence: number): number {
  return Math.round(confidence * 1000) / 1000;
}
