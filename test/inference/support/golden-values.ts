/** What the files of goldens have in common. */
import type { FloatTensor } from '../../../src/inference/models/tensors.ts';

/** Little-endian float32 in base64. */
export interface StoredTensor {
  shape: number[];
  data: string;
}

export interface Found {
  classIndex: number;
  score: number;
  box: number[];
}

export type Corner = [number, number];

export interface DetrCase {
  boxes: StoredTensor;
  logits: StoredTensor;
  width: number;
  height: number;
  settings: { score: number; maximum: number };
  found: Found[];
}

export function tensor({ shape, data }: StoredTensor): FloatTensor {
  const bytes = Buffer.from(data, 'base64');
  return { shape, data: Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4)) };
}
