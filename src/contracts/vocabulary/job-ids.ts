import { Type } from 'typebox';

/** A parameter that names an earlier job. */
export const jobId = (description: string) => Type.String({ pattern: '^job_[1-9A-HJ-NP-Za-km-z]{8,32}$', description });
