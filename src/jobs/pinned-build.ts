import { ServiceError } from '../platform/service-error.ts';
import type { Job } from './entities.ts';

/** The build that runs a job. @throws ServiceError `model_unavailable` when the job pins a build that is not installed */
export function buildFor({ pinnedModelVersion }: Pick<Job, 'pinnedModelVersion'>, installed: string): string {
  if (pinnedModelVersion === null || pinnedModelVersion === installed) return installed;
  throw new ServiceError(
    'model_unavailable',
    `${pinnedModelVersion}, pinned by Model-Version, is no longer installed.`,
  );
}
