import type { Job as TypedJob } from '../../src/client/types.ts';

/** A job of any endpoint: the console draws results by their shape, not by their endpoint. */
export type Job = Omit<TypedJob, 'endpoint' | 'result'> & { endpoint: string; result: unknown };

const OPEN = ['queued', 'processing'];
export const isOpen = ({ status }: Pick<Job, 'status'>) => OPEN.includes(status);
