/** Times and traces a backend's inferences and runs of stages. */
import type { InferenceBackend, InferenceContext, InferenceRequest } from '../contracts/inference-backend.ts';
import type { Metrics, Outcome } from './metrics.ts';
import type { Tracing, WorkSpan } from './tracing.ts';

export function observeBackend(backend: InferenceBackend, metrics: Metrics, tracing: Tracing): InferenceBackend {
  const { bundles } = backend;
  return {
    modelVersion: (job) => backend.modelVersion(job),
    infer: (request, context) =>
      observe(`infer ${request.endpoint}`, request, context, async (span) => {
        const outcome = await backend.infer(request, context);
        if (outcome.error) span.fail(outcome.error.code);
        return { answer: outcome, hasFailed: outcome.status === 'failed' };
      }),
    ...(bundles && {
      bundles: {
        plan: (request, context) => bundles.plan(request, context),
        runUnits: (request, range, context) =>
          observe(`infer ${request.endpoint} ${range.stage.name}`, request, context, async () => ({
            answer: await bundles.runUnits(request, range, context),
            // Some units may have failed: the outcome of the stage names them.
            hasFailed: false,
          })),
        compose: (request, ended) => bundles.compose(request, ended),
      },
    }),
    ...(backend.remoteRun && { remoteRun: (...run) => backend.remoteRun?.(...run) ?? null }),
    trial: (endpoint) => backend.trial?.(endpoint) ?? null,
    close: () => backend.close(),
  };

  function observe<Answer>(
    name: string,
    { jobId, endpoint, livemode, modelVersion }: InferenceRequest,
    { signal }: InferenceContext,
    work: (span: WorkSpan) => Promise<{ answer: Answer; hasFailed: boolean }>,
  ): Promise<Answer> {
    const attributes = { 'job.id': jobId, 'job.endpoint': endpoint, 'job.livemode': livemode };
    return tracing.inSpan(name, attributes, async (span) => {
      const startedAtMs = performance.now();
      let outcome: Outcome = 'failed';
      try {
        const { answer, hasFailed } = await work(span);
        if (!hasFailed) outcome = 'succeeded';
        return answer;
      } catch (error) {
        if (signal.aborted) outcome = 'cancelled';
        throw error;
      } finally {
        const durationMs = performance.now() - startedAtMs;
        metrics.inferenceEnded({ endpoint, livemode, modelVersion, outcome, durationMs });
      }
    });
  }
}
