/** Devices and memory of the inference runtime, from the configuration. */

import { MEGABYTE } from '../contracts/media-limits.ts';
import { CPU, type Device } from '../inference/runtime/devices.ts';
import type { Config } from '../platform/config/config.ts';

type Settings = Config<
  | 'INFERENCE_EXECUTION_PROVIDER'
  | 'INFERENCE_DEVICES'
  | 'INFERENCE_MEMORY_MB'
  | 'INFERENCE_WORKING_MEMORY_MB'
  | 'LD_LIBRARY_PATH'
>;

export function runtimeOptionsOf(settings: Settings) {
  const { INFERENCE_EXECUTION_PROVIDER: provider, INFERENCE_DEVICES: ids, LD_LIBRARY_PATH: libraries } = settings;
  const devices: Device[] = provider === 'cpu' ? [CPU] : ids.map((id) => ({ provider, id }));
  return {
    devices,
    deviceEnvironment: provider === 'cpu' || libraries === '' ? {} : { LD_LIBRARY_PATH: libraries },
    memoryMb: settings.INFERENCE_MEMORY_MB === 0 ? null : settings.INFERENCE_MEMORY_MB,
    workingMemoryBytes: settings.INFERENCE_WORKING_MEMORY_MB * MEGABYTE,
  };
}
