/** A device as ONNX Runtime's execution providers. Imported in child processes only. */
import type { InferenceSession } from 'onnxruntime-node';
import type { Device } from './devices.ts';

/** Operators that a provider does not support run on the next one, and finally on the CPU. */
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
