/** Where networks run. */

export const EXECUTION_PROVIDERS = ['cpu', 'cuda', 'tensorrt'] as const;

export interface Device {
  provider: (typeof EXECUTION_PROVIDERS)[number];
  /** Number of the GPU, as CUDA counts; 0 of the CPU. */
  id: number;
}

export const CPU: Device = { provider: 'cpu', id: 0 };
