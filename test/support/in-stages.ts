/** A bundle run stage by stage in this process: as its workflow does it, without Temporal and PostgreSQL. */
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import type { InferenceOutcome } from '../../src/contracts/job.ts';
import { queuedStages } from '../../src/domain/job-stages.ts';
import { foundByStages, foundUnits, reportOf } from '../../src/domain/stage-outcomes.ts';
import type { InferenceRequest, StagedBackend } from '../../src/inference/backend.ts';
import { beginUnits, endUnits, nextRange, queuedProgress, skipBlocked } from '../../src/workflows/stage-schedule.ts';

/** What the backend answers a request, in stages where its endpoint has some. */
export async function inferWhole(
  backend: StagedBackend,
  endpoint: EndpointContract,
  request: InferenceRequest,
): Promise<InferenceOutcome> {
  const { staged } = backend;
  const { jobId, parameters, inputs } = request;
  const signal = new AbortController().signal;
  const plan = await staged.plan(request, { signal });
  if (!plan) return backend.infer(request, { signal });

  const progress = queuedProgress(plan);
  const kept: Parameters<typeof foundUnits>[0][number][] = [];
  skipBlocked(plan, progress);
  for (;;) {
    const range = nextRange({ jobId, inferenceAttempts: 1 }, plan, progress);
    if (!range) break;
    const { stage, firstUnit } = range;
    beginUnits(progress, range, 1);
    const found = foundUnits(kept.filter(({ stage: name }) => stage.after.includes(name)));
    const context = { signal, found, isLastAttempt: true, onProgress: () => {} };
    const outcome = await staged.runUnits(request, range, context);
    kept.push({ stage: stage.name, firstUnit, outcome });
    endUnits(plan, progress, range, reportOf(outcome, range), 2);
  }
  const shownStages = queuedStages(endpoint, { parameters, files: inputs });
  return staged.compose(request, { plan, progress, found: foundByStages(progress, kept), shownStages });
}
