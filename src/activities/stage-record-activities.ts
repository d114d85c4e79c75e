/** Shows the progress of a bundle's stages, and cleans up after its job. */
import type { StageRecordActivities } from '../contracts/run-bundle.ts';
import { advancedStages } from '../jobs/job-stages.ts';
import { findJobLabels } from '../jobs/jobs-store.ts';
import { deleteStageOutcomes, readStages, updateStages } from '../jobs/stage-outcomes-store.ts';
import type { EndedStage } from '../observability/metrics.ts';
import type { MikroORM } from '../platform/database/orm.ts';

interface Dependencies {
  orm: MikroORM;
  /** Called for each stage that ended, once its job has ended. */
  onStageEnded?: (stage: EndedStage) => void;
}

export function createStageRecordActivities({ orm, onStageEnded }: Dependencies): StageRecordActivities {
  return {
    async showStages({ jobId, progress }) {
      const em = orm.em.fork();
      const stages = await readStages(em, jobId);
      if (stages) await updateStages(em, jobId, advancedStages(stages, progress));
    },
    async discardStages({ jobId, progress }) {
      const em = orm.em.fork();
      await deleteStageOutcomes(em, jobId);
      const labels = onStageEnded && (await findJobLabels(em, jobId));
      if (!labels) return;
      for (const { name: stage, status, startedAt, completedAt } of progress) {
        if (startedAt === null || completedAt === null) continue;
        onStageEnded({ ...labels, stage, status, durationMs: Math.round(1_000 * (completedAt - startedAt)) });
      }
    },
  };
}
