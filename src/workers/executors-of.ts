/** Where the configuration has networks run. */
import type { Config } from '../config/config.ts';
import { MEGABYTE } from '../contracts/media-limits.ts';
import { CPU, type Device } from '../inference/executors/devices.ts';

type Settings = Config<
  | 'INFERENCE_EXECUTION_PROVIDER'
  | 'INFERENCE_DEVICES'
  | 'INFERENCE_MEMORY_MB'
  | 'INFERENCE_WORKING_MEMORY_MB'
  | 'LD_LIBRARY_PATH'
>;

export function executorsOf(settings: Settings) {
  const { INFERENCE_EXECUTION_PROVIDER: provider, INFERENCE_DEVICES: ids, LD_LIBRARY_PATH: libraries } = settings;
  const devices: Device[] = provider === 'cpu' ? [CPU] : ids.map((id) => ({ provider, id }));
  return {
    devices,
    deviceEnvironment: provider === 'cpu' || libraries === '' ? {} : { LD_LIBRARY_PATH: libraries },
    memoryMb: settings.INFERENCE_MEMORY_MB === 0 ? null : settings.INFERENCE_MEMORY_MB,
    workingMemoryBytes: settings.INFERENCE_WORKING_MEMORY_MB * MEGABYTE,
  };
}
