/** Whether networks run on a device. Imported in child processes only. */
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { Device } from './devices.ts';
import { executionProvidersOf } from './execution-providers.ts';

/** y = x + x for two numbers: ONNX, opset 13. */
const DOUBLING_NETWORK = Buffer.from(
  'CAgSADo5Cg4KAXgKAXgSAXkiA0FkZBIFcHJvYmVaDwoBeBIKCggIARIECgIIAmIPCgF5EgoKCAgBEgQKAggCQgQKABAN',
  'base64',
);

/**
 * Runs a network with the CPU fallback disabled: ONNX Runtime otherwise runs on the CPU, without a warning, what the device
 * does not support.
 * @returns the problem, or null
 */
export async function probeDevice(device: Device): Promise<string | null> {
  try {
    const session = await InferenceSession.create(DOUBLING_NETWORK, {
      executionProviders: executionProvidersOf(device).slice(0, 1),
      extra: { session: { disable_cpu_ep_fallback: '1' } },
      // The reason is returned; the library must not print it as well.
      logSeverityLevel: 4,
    });
    const { y } = await session.run({ x: new Tensor('float32', Float32Array.of(1, 2), [2]) });
    await session.release();
    const values = Array.from(y?.data as Float32Array);
    return values[0] === 2 && values[1] === 4 ? null : `1 + 1 and 2 + 2 are ${values.join(' and ')} there`;
  } catch (error) {
    return (error as Error).message;
  }
}
