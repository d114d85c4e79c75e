import type { Type } from 'typebox';
import { priceReport } from '../../contracts/vocabulary/pricing.ts';
import { repairEstimate } from '../../contracts/vocabulary/repairs.ts';
import { closed } from '../../contracts/vocabulary/schemas.ts';

export const result = closed({ ...repairEstimate.properties, report: priceReport });

export type Result = Type.Static<typeof result>;
