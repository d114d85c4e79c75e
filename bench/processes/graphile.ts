/** What the process of graphile-worker and its customer share. */
export const GRAPHILE_TASK = 'infer';

export interface GraphileJob {
  jobId: string;
}
