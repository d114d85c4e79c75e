/** Tensors as pipelines see them: row-major, last axis fastest. */

export interface FloatTensor {
  data: Float32Array;
  shape: readonly number[];
}

/** An int64 input. */
export interface IntegerTensor {
  data: BigInt64Array;
  shape: readonly number[];
}
