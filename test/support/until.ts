import { setTimeout as sleep } from 'node:timers/promises';
import type { VehicleInferenceClient } from '../../src/client/index.ts';

/** Resolves as soon as the condition holds; rejects after `timeoutMs`. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 45_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not so after ${timeoutMs} ms: ${condition.toString()}`);
    await sleep(10);
  }
}

/** A worker is ready while a model of its still loads, and announces it then. */
export async function untilAvailable(client: VehicleInferenceClient, endpoint: string): Promise<void> {
  await until(
    async () => (await client.listEndpoints()).some((offered) => offered.endpoint === endpoint && offered.available),
    240_000,
  );
}
