/**
 * The numbers that networks take and give. Pipelines and decoders know 32-bit floats and whole numbers alone; here a network
 * that was exported in another type is met.
 */
import type { FloatTensor, IntegerTensor } from './model.ts';

export const INPUT_TYPES = ['float32', 'float16', 'uint8', 'int64'] as const;
export const OUTPUT_TYPES = ['float32', 'float16', 'int64', 'int32'] as const;

export type InputType = (typeof INPUT_TYPES)[number];

/** A tensor in the type that `model.json` gives an input: half floats are the nearest ones, bytes are rounded. */
export function toInput(
  { data }: FloatTensor | IntegerTensor,
  type: InputType = 'float32',
): { type: InputType; data: Float32Array | Float16Array | Uint8Array | BigInt64Array } {
  if (data instanceof BigInt64Array) return { type: 'int64', data };
  if (type === 'float16') return { type, data: new Float16Array(data) };
  if (type === 'uint8') return { type, data: new Uint8Array(Uint8ClampedArray.from(data).buffer) };
  return { type: 'float32', data };
}

/** The numbers of an output: half floats, which libraries hold as 16 bits each, as 32-bit floats; others as they are. */
export function fromOutput(data: unknown, type: string): unknown {
  if (type !== 'float16') return data;
  const { buffer, byteOffset, length } = data as Float16Array | Uint16Array;
  return new Float32Array(new Float16Array(buffer, byteOffset, length));
}

/** Whether a tensor has the shape that `model.json` states: a dimension that is named there may have any length. */
export function isOfShape(actual: readonly number[], stated: readonly (number | string)[]): boolean {
  return (
    actual.length === stated.length &&
    stated.every((dimension, axis) => typeof dimension === 'string' || dimension === actual[axis])
  );
}
