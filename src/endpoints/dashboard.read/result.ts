import { Type } from 'typebox';
import { READING_DEFECTS, readingIssues } from '../../contracts/vocabulary/pictures.ts';
import { boundingBox, closed, confidence, nullable } from '../../contracts/vocabulary/schemas.ts';

const odometer = closed({
  value: Type.Number({ minimum: 0, description: 'The reading, in `unit`.' }),
  unit: nullable(
    Type.Enum(['km', 'mi'], {
      description: 'As displayed; otherwise the `unit_hint`; null if the cluster shows no unit and there is no hint.',
    }),
  ),
  display_type: Type.Enum(['digital', 'analogue'], { description: 'An electronic display, or mechanical drums.' }),
  confidence,
  bbox: boundingBox,
});

const warningLight = closed({
  code: Type.String({ description: 'Stable name of the lamp, such as `check_engine`.' }),
  label: Type.String({ description: 'The lamp in plain English.' }),
  severity: Type.Enum(['info', 'advisory', 'stop'], {
    description: '`info`: a tell-tale; `advisory`: amber, have it checked; `stop`: red, stop safely.',
  }),
  confidence,
  bbox: boundingBox,
});

export const result = closed({
  cluster_lit: nullable(
    Type.Boolean({ description: 'Whether the instrument cluster is switched on; null if no cluster is visible.' }),
  ),
  odometer: nullable(odometer),
  warning_lights: nullable(
    Type.Array(warningLight, {
      description: 'Lamps that are lit, most confident first; null if `read_warning_lights` is `false`.',
    }),
  ),
  fuel_level_percent: nullable(
    Type.Number({ minimum: 0, maximum: 100, description: 'Null if no fuel gauge can be read for sure.' }),
  ),
  fuel_level_confidence: Type.Optional(
    nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'How probably the level is right to within 8 points of `fuel_level_percent`. Null with it. Results of releases before 2026-11-24 do not have it.',
      }),
    ),
  ),
  quality_issues: Type.Optional(readingIssues(...READING_DEFECTS, 'no_dashboard', 'no_odometer')),
});

export type Result = Type.Static<typeof result>;
