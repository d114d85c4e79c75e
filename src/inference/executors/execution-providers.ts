/** A device in the words of ONNX Runtime. Imported in child processes only. */
import type { InferenceSession } from 'onnxruntime-node';
import type { Device } from './devices.ts';

/** What the first does not take falls to the next, and in the end to the CPU. */
export function executionProvidersOf({ provider, id }: Device): readonly InferenceSession.ExecutionProviderConfig[] {
  const cuda = { name: 'cuda', deviceId: id } as const;
  switch (provider) {
    case 'cpu':
      return ['cpu'];
    case 'cuda':
      return [cuda];
    case 'tensorrt':
      return [{ name: 'tensorrt', deviceId: id }, cuda];
  }
}
