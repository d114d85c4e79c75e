/** Names shared by the process of graphile-worker and its customer. */
export const GRAPHILE_TASK = 'infer';

export interface GraphileJob {
  jobId: string;
}
