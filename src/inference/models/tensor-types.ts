/**
 * Element types of networks' inputs and outputs. Pipelines and decoders use only 32-bit floats and integers; these functions
 * convert to and from the types of an exported network.
 */
import type { FloatTensor, IntegerTensor } from './tensors.ts';

export const INPUT_TYPES = ['float32', 'float16', 'uint8', 'int64'] as const;
export const OUTPUT_TYPES = ['float32', 'float16', 'int64', 'int32'] as const;

export type InputType = (typeof INPUT_TYPES)[number];

/** Converts a tensor to an input's type: rounds to the nearest half float, and rounds and clamps to bytes. */
export function toInput(
  { data }: FloatTensor | IntegerTensor,
  type: InputType = 'float32',
): { type: InputType; data: Float32Array | Float16Array | Uint8Array | BigInt64Array } {
  if (data instanceof BigInt64Array) return { type: 'int64', data };
  if (type === 'float16') return { type, data: new Float16Array(data) };
  if (type === 'uint8') return { type, data: new Uint8Array(Uint8ClampedArray.from(data).buffer) };
  return { type: 'float32', data };
}

/** Converts an output's half floats, given as 16-bit values, to 32-bit floats; returns other data unchanged. */
export function fromOutput(data: unknown, type: string): unknown {
  if (type !== 'float16') return data;
  const { buffer, byteOffset, length } = data as Float16Array | Uint16Array;
  return new Float32Array(new Float16Array(buffer, byteOffset, length));
}

/** Whether a tensor has the shape stated in `model.json`, where a named dimension may have any length. */
export function isOfShape(actual: readonly number[], stated: readonly (number | string)[]): boolean {
  return (
    actual.length === stated.length &&
    stated.every((dimension, axis) => typeof dimension === 'string' || dimension === actual[axis])
  );
}
