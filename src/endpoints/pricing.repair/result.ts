import { type RepairEstimate, repairEstimate } from '../../contracts/vocabulary/repair-schemas.ts';

export const result = repairEstimate;

export type Result = RepairEstimate;
