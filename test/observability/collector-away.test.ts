import type { SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, it } from 'vitest';
import { traceWith } from '../../src/observability/open-telemetry.ts';

it('a process whose collector is out of reach stops normally', async () => {
  const unsent: SpanProcessor = {
    onStart() {},
    onEnd() {},
    forceFlush: () => Promise.reject(new Error('connect ECONNREFUSED')),
    shutdown: () => Promise.reject(new Error('connect ECONNREFUSED')),
  };
  await expect(traceWith('test', unsent).stop()).resolves.toBeUndefined();
});
