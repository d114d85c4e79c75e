/** What an orchestration worker records of the stages of bundles. */
import type { StageRecordActivities } from '../contracts/run-stages.ts';
import { Job } from '../db/entities.ts';
import { deleteStageOutcomes, updateStages } from '../db/jobs/stage-outcomes.ts';
import type { MikroORM } from '../db/orm.ts';
import { advancedStages } from '../domain/job-stages.ts';

export function createStageRecordActivities({ orm }: { orm: MikroORM }): StageRecordActivities {
  return {
    async showStages({ jobId, progress }) {
      const em = orm.em.fork();
      const { stages } = await em.findOneOrFail(Job, { id: jobId }, { fields: ['stages'] });
      if (stages) await updateStages(em, jobId, advancedStages(stages, progress));
    },
    async discardStages({ jobId }) {
      await deleteStageOutcomes(orm.em.fork(), jobId);
    },
  };
}
