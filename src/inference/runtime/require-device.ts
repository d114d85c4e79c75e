/** Refuses a device that does not work, before any model is loaded. */
import { text } from 'node:stream/consumers';
import type { Device } from './devices.ts';
import { forkInferenceChild } from './fork-inference-child.ts';
import type { MessageFromChild, MessageToChild } from './messages.ts';

/** A device's libraries may hang with its driver. */
const PROBE_TIMEOUT_MS = 60_000;

/**
 * Runs a network on the device, in a separate process. The CPU needs no such proof.
 * @throws Error that names what is missing
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
  const child = forkInferenceChild({ environment, stderr: 'pipe' });
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
    // Its output ends with the process.
    child.kill('SIGKILL');
    return problem && reasonIn(problem, await printed);
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

/**
 * The part of a failure that an operator can act on: ONNX Runtime prints the name of a missing library, and wraps CUDA's
 * message in names from its own source.
 * @param problem message of the error that ONNX Runtime threw
 * @param printed standard error of the process
 */
export function reasonIn(problem: string, printed: string): string {
  const [, missing] = /^.*with error: (?:.*\/)?(lib\S+: .+)$/m.exec(printed) ?? [];
  const [failure] = /CUDA failure \d+: [^;]+/.exec(problem) ?? [];
  return (missing ?? failure ?? problem).replaceAll(/\s+/g, ' ').trim();
}
