/** Runs a bundle stage by stage in this process, like its workflow, without Temporal and PostgreSQL. */
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import type { BundleBackend, InferenceRequest } from '../../src/contracts/inference-backend.ts';
import type { InferenceOutcome } from '../../src/contracts/job.ts';
import { queuedStages } from '../../src/jobs/job-stages.ts';
import { foundByStages, foundUnits, reportOf } from '../../src/jobs/stage-outcomes.ts';
import { beginUnits, endUnits, nextRange, queuedProgress, skipBlocked } from '../../src/workflows/stage-schedule.ts';

/** The backend's outcome for a request, composed of stages if its endpoint has any. */
export async function inferWhole(
  backend: BundleBackend,
  endpoint: EndpointContract,
  request: InferenceRequest,
  readResult: (jobId: string) => Promise<unknown> = async () => null,
): Promise<InferenceOutcome> {
  const { bundles } = backend;
  const { jobId, parameters, inputs } = request;
  const signal = new AbortController().signal;
  const plan = await bundles.plan(request, { signal });
  if (!plan) return backend.infer(request, { signal, readResult });

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
    const outcome = await bundles.runUnits(request, range, context);
    kept.push({ stage: stage.name, firstUnit, outcome });
    endUnits(plan, progress, range, reportOf(outcome, range), 2);
  }
  const shownStages = queuedStages(endpoint, { parameters, files: inputs });
  return bundles.compose(request, { plan, progress, found: foundByStages(progress, kept), shownStages });
}
