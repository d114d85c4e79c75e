/**
 * An invented book of repairs: prices, times and rates that the project made up, for demonstrations and tests. They say
 * nothing about real repairs. Pure: the same rows each time.
 */
import type { Part } from '../../contracts/vocabulary/parts.ts';
import type { Market } from '../row-fields.ts';
import { REPAIR_COLUMNS, type RepairColumn, type Work } from './repair-entry.ts';

type Values = Partial<Record<RepairColumn, string | number>>;

/** By part: price of an original one in minor units, and hours to replace it. Painted ones with hours and materials of paint. */
const PARTS: readonly (readonly [part: Part, priceMinor: number, hours: number, paintHours: number, also: string])[] = [
  ['front_bumper', 41_000, 1.4, 2.4, ''],
  ['rear_bumper', 38_500, 1.3, 2.3, ''],
  ['hood', 47_000, 1.1, 2.9, ''],
  ['roof', 62_000, 9.5, 3.6, 'windshield rear_windshield'],
  ['trunk_lid', 52_500, 1.6, 2.6, 'rear_emblem'],
  ['front_fender', 22_000, 1.8, 1.9, 'front_bumper headlight'],
  ['front_door', 57_000, 2.6, 2.4, 'mirror front_door_handle'],
  ['rear_door', 54_000, 2.5, 2.3, 'rear_door_handle'],
  ['quarter_panel', 59_000, 11, 2.8, 'rear_bumper taillight'],
  ['rocker_panel', 19_000, 5.5, 1.8, ''],
  ['mirror', 18_500, 0.5, 0.6, ''],
  ['spoiler', 21_000, 0.7, 1, ''],
  ['fuel_door', 6_200, 0.3, 0.4, ''],
  ['front_door_handle', 4_900, 0.5, 0.3, ''],
  ['rear_door_handle', 4_900, 0.5, 0.3, ''],
  ['grille', 13_500, 0.4, 0, 'front_bumper'],
  ['headlight', 45_000, 0.6, 0, 'front_bumper'],
  ['fog_light', 9_100, 0.3, 0, ''],
  ['taillight', 16_500, 0.4, 0, ''],
  ['windshield', 39_500, 2.4, 0, ''],
  ['rear_windshield', 34_000, 2.2, 0, ''],
  ['front_window', 12_400, 1.2, 0, ''],
  ['rear_window', 11_900, 1.2, 0, ''],
  ['front_wheel', 29_500, 0.4, 0, ''],
  ['rear_wheel', 29_500, 0.4, 0, ''],
];
const MATERIALS_PER_PAINT_HOUR_MINOR = 3_400;

/** Work that takes as long on every part: a moderate damage of the method. */
const METHODS: readonly (readonly [work: Work, hours: number, paintHours: number, materialsMinor: number])[] = [
  ['polish', 0.5, 0, 250],
  ['touch_up', 0.3, 0.4, 1_400],
  ['paintless_dent_repair', 1.3, 0, 0],
  ['spot_repair', 0.7, 1.3, 4_200],
  ['repair_and_paint', 1.8, 2.2, 7_500],
  ['glass_repair', 0.6, 0, 1_900],
];

const REFITTED: readonly (readonly [part: Part, hours: number])[] = [
  ['front_bumper', 0.8],
  ['rear_bumper', 0.7],
  ['headlight', 0.3],
  ['taillight', 0.2],
  ['mirror', 0.3],
  ['front_door_handle', 0.3],
  ['rear_door_handle', 0.3],
  ['rear_emblem', 0.1],
  ['windshield', 2.2],
  ['rear_windshield', 2],
];

const BLENDED: readonly Part[] = ['front_fender', 'front_door', 'rear_door', 'quarter_panel', 'hood', 'trunk_lid'];

const RATES = [
  ['', 5_800, 6_100],
  ['GB-LND', 7_400, 7_700],
  ['GB-SCT', 5_300, 5_500],
] as const;

/** The invented model whose front bumper has a price of its own. */
const MODEL = { make: 'Talvera', model: 'Lumo' };
const MODEL_BUMPER_MINOR = 33_300;
const EQUIVALENT_SHARE = 0.62;
const USED_SHARE = 0.4;

/** Rows of a file of a book of repairs, in the order of its columns. */
export function inventedRepairs({ country, currency }: Market): string[] {
  const row = (values: Values) =>
    REPAIR_COLUMNS.map((name) => ({ valid_from: '2026-06-01', country, currency, ...values })[name] ?? '').join(',');
  const part = (name: Part, priceMinor: number, rest: Values = {}) =>
    row({ kind: 'part', part: name, price_minor: Math.round(priceMinor), ...rest });
  const work = (name: Work, values: Values) => row({ kind: 'work', work: name, ...values });
  return [
    ...RATES.map(([region, labour, paint]) =>
      row({ kind: 'rate', region, labour_rate_minor: labour, paint_rate_minor: paint, tax_percent: 20 }),
    ),
    ...PARTS.flatMap(([name, priceMinor, hours, paintHours, also]) => [
      part(name, priceMinor, { quality: 'original' }),
      part(name, priceMinor * EQUIVALENT_SHARE, { quality: 'equivalent' }),
      part(name, priceMinor * USED_SHARE, { quality: 'used' }),
      work('replace', {
        part: name,
        labour_hours: hours,
        paint_hours: paintHours,
        materials_minor: Math.round(paintHours * MATERIALS_PER_PAINT_HOUR_MINOR),
        also_removes: also,
      }),
    ]),
    part('front_bumper', MODEL_BUMPER_MINOR, { ...MODEL, part_number: 'INV-1001' }),
    ...METHODS.map(([name, hours, paintHours, materialsMinor]) =>
      work(name, { labour_hours: hours, paint_hours: paintHours, materials_minor: materialsMinor }),
    ),
    // Large panels take longer to restore, and the handles and mirrors on doors are in the way of paint.
    work('repair_and_paint', {
      part: 'front_door',
      labour_hours: 2.2,
      paint_hours: 2.4,
      materials_minor: 8_100,
      also_removes: 'mirror front_door_handle',
    }),
    work('repair_and_paint', {
      part: 'rear_door',
      labour_hours: 2.2,
      paint_hours: 2.3,
      materials_minor: 7_900,
      also_removes: 'rear_door_handle',
    }),
    work('repair_and_paint', {
      part: 'front_door',
      severity: 'severe',
      labour_hours: 4,
      paint_hours: 2.4,
      materials_minor: 9_000,
      also_removes: 'mirror front_door_handle',
    }),
    ...REFITTED.map(([name, hours]) => work('remove_and_refit', { part: name, labour_hours: hours })),
    ...BLENDED.map((name) =>
      work('blend', { part: name, labour_hours: 0.2, paint_hours: 0.9, materials_minor: 2_100 }),
    ),
    work('paint_preparation', { paint_hours: 0.8, materials_minor: 2_600 }),
  ];
}
