import { type RepairEstimate, repairEstimate } from '../../contracts/vocabulary/repairs.ts';

export const result = repairEstimate;

export type Result = RepairEstimate;
