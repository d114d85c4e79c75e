/** How often each fault is tried: once in `npm test`, more often in `npm run test:faults`. */
export const ROUNDS = Number(process.env.FAULT_ROUNDS ?? '1');

export const rounds: readonly number[] = Array.from({ length: ROUNDS }, (_, index) => index + 1);
