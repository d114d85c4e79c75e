/** What an orchestration worker records of the stages of bundles. */
import type { StageRecordActivities } from '../contracts/run-stages.ts';
import { Job } from '../db/entities.ts';
import { deleteStageOutcomes, updateStages } from '../db/jobs/stage-outcomes.ts';
import type { MikroORM } from '../db/orm.ts';
import { advancedStages } from '../domain/job-stages.ts';
import type { EndedStage } from '../observability/metrics.ts';

interface Dependencies {
  orm: MikroORM;
  /** Told of each stage that came to its end, once its job has. */
  onStageEnded?: (stage: EndedStage) => void;
}

export function createStageRecordActivities({ orm, onStageEnded }: Dependencies): StageRecordActivities {
  return {
    async showStages({ jobId, progress }) {
      const em = orm.em.fork();
      const { stages } = await em.findOneOrFail(Job, { id: jobId }, { fields: ['stages'] });
      if (stages) await updateStages(em, jobId, advancedStages(stages, progress));
    },
    async discardStages({ jobId, progress }) {
      const em = orm.em.fork();
      await deleteStageOutcomes(em, jobId);
      const job = onStageEnded && (await em.findOne(Job, { id: jobId }, { fields: ['endpoint', 'livemode'] }));
      if (!job) return;
      const { endpoint, livemode } = job;
      for (const { name: stage, status, startedAt, completedAt } of progress) {
        if (startedAt === null || completedAt === null) continue;
        onStageEnded({ endpoint, livemode, stage, status, durationMs: Math.round(1_000 * (completedAt - startedAt)) });
      }
    },
  };
}
