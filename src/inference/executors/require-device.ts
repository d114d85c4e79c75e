/** Refuses devices that do not work, before any model is loaded. */
import { text } from 'node:stream/consumers';
import type { Device } from './devices.ts';
import type { MessageFromChild, MessageToChild } from './messages.ts';
import { forkInSandbox } from './sandbox.ts';

/** Libraries of a device may hang where its driver does. */
const PROBE_TIMEOUT_MS = 60_000;

/**
 * Proves in a process of its own that networks run on the device. The CPU needs no proof.
 * @throws Error that says what the device lacks
 */
export async function requireDevice(device: Device, environment: Readonly<Record<string, string>> = {}): Promise<void> {
  if (device.provider === 'cpu') return;
  const problem = await probe(device, environment);
  if (problem === null) return;
  throw new Error(
    `Networks cannot run by ${device.provider} on device ${device.id}: ${problem}. Install its libraries ` +
      '(docs/operations.md, "GPUs"), or set INFERENCE_EXECUTION_PROVIDER to cpu.',
  );
}

async function probe(device: Device, environment: Readonly<Record<string, string>>): Promise<string | null> {
  const child = forkInSandbox(new URL('./child-main.ts', import.meta.url), { environment, stderr: 'pipe' });
  const printed = child.stderr ? text(child.stderr) : '';
  const timer = setTimeout(() => child.kill('SIGKILL'), PROBE_TIMEOUT_MS);
  try {
    const problem = await new Promise<string | null>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(`its process ended with ${signal ?? code} before it answered`));
      child.on('message', (message: MessageFromChild) => {
        if (message.type === 'probed') resolve(message.problem);
      });
      child.send({ type: 'probe', device } satisfies MessageToChild);
    });
    // Whatever it still prints ends with it.
    child.kill('SIGKILL');
    return problem && reasonIn(problem, await printed);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

/**
 * The part that tells an operator what to do: ONNX Runtime prints the library that the system did not find, and wraps what
 * CUDA says in names of its own source.
 * @param problem as ONNX Runtime throws it
 * @param printed by its process
 */
export function reasonIn(problem: string, printed: string): string {
  const [, missing] = /^.*with error: (?:.*\/)?(lib\S+: .+)$/m.exec(printed) ?? [];
  const [failure] = /CUDA failure \d+: [^;]+/.exec(problem) ?? [];
  return (missing ?? failure ?? problem).replaceAll(/\s+/g, ' ').trim();
}
