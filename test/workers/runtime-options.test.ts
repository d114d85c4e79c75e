/** The configuration decides where networks run, and no environment reaches a process on the CPU. */
import { expect, test } from 'vitest';
import { runtimeOptionsOf } from '../../src/workers/runtime-options.ts';

const settings = {
  INFERENCE_EXECUTION_PROVIDER: 'cpu',
  INFERENCE_DEVICES: [0, 2] as number[],
  INFERENCE_MEMORY_MB: 0,
  INFERENCE_WORKING_MEMORY_MB: 2,
  LD_LIBRARY_PATH: '/usr/local/cuda/lib64',
} as const;

test('the CPU is one device, whatever GPUs are named', () => {
  expect(runtimeOptionsOf(settings)).toEqual({
    devices: [{ provider: 'cpu', id: 0 }],
    deviceEnvironment: {},
    memoryMb: null,
    workingMemoryBytes: 2 * 1024 * 1024,
  });
});

test('each GPU is a device, and its processes get the path of its libraries', () => {
  expect(runtimeOptionsOf({ ...settings, INFERENCE_EXECUTION_PROVIDER: 'cuda', INFERENCE_MEMORY_MB: 8000 })).toEqual({
    devices: [
      { provider: 'cuda', id: 0 },
      { provider: 'cuda', id: 2 },
    ],
    deviceEnvironment: { LD_LIBRARY_PATH: '/usr/local/cuda/lib64' },
    memoryMb: 8000,
    workingMemoryBytes: 2 * 1024 * 1024,
  });
});
