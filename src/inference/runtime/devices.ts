/** The devices that networks run on. */

export const EXECUTION_PROVIDERS = ['cpu', 'cuda', 'tensorrt'] as const;

export interface Device {
  provider: (typeof EXECUTION_PROVIDERS)[number];
  /** CUDA's number of the GPU; 0 for the CPU. */
  id: number;
}

export const CPU: Device = { provider: 'cpu', id: 0 };
