/**
 * Memory of the largest tensor that nothing reads any longer, for the next one: V8 collects its whole heap for every 64 MB of new
 * ones. One suffices, because the networks of a process run one at a time.
 */
import type { FloatTensor } from '../../models/tensors.ts';

let spare: ArrayBuffer | undefined;

/** Their values are left over: write all of them. */
export function takeFloats(length: number): Float32Array {
  const memory = spare;
  if (!memory || memory.byteLength < length * Float32Array.BYTES_PER_ELEMENT) return new Float32Array(length);
  spare = undefined;
  return new Float32Array(memory, 0, length);
}

/**
 * Takes the memory away from a tensor: whoever still holds it finds it empty, and never the next picture.
 * @param tensor from `takeFloats`, after the run that read it
 */
export function giveBack({ data: { buffer } }: FloatTensor): void {
  if (!(buffer instanceof ArrayBuffer)) return;
  const memory = buffer.transfer();
  if (memory.byteLength > (spare?.byteLength ?? 0)) spare = memory;
}
