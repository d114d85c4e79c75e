/** `GET /job-files/{id}/{index}`: an input file of a job. The signed link, which members get for a few minutes, grants access. */
import { Job } from '../../jobs/entities.ts';
import { ServiceError } from '../../platform/service-error.ts';
import type { SignedUrls } from '../../platform/signed-urls.ts';
import type { ObjectStore } from '../../platform/storage/object-store.ts';
import type { ApiContext } from '../context.ts';
import { sendInput } from '../send-input.ts';

interface JobFileDependencies {
  store: ObjectStore;
  signedUrls: SignedUrls;
  clock: () => Date;
}

export const jobFilePath = (jobId: string, index: number) => `/job-files/${jobId}/${index}`;

export function createJobFileRoute({ store, signedUrls, clock }: JobFileDependencies) {
  return async (context: ApiContext): Promise<void> => {
    if (signedUrls.verify(context.path, context.query, clock()) !== 'valid') {
      throw new ServiceError('resource_not_found', 'No such file. Use the link unchanged, before it expires.');
    }
    const job = await context.state.em.findOne(Job, { id: String(context.params.id) }, { fields: ['inputs'] });
    await sendInput(context, store, job?.inputs[Number(context.params.index)]);
    context.set('X-Content-Type-Options', 'nosniff');
    context.set('Content-Security-Policy', "default-src 'none'; sandbox");
  };
}
