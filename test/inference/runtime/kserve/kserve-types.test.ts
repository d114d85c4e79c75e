/**
 * Half floats and bytes on their way to a server of the KServe v2 protocol and back. The bytes are those of IEEE 754's
 * binary16: 0x3C00 is 1, 0xC000 is -2, 0x3555 the half float nearest to a third.
 */
import { expect, test } from 'vitest';
import {
  decodeAnswer,
  encodeRequest,
  metadataProblems,
} from '../../../../src/inference/runtime/kserve/kserve-protocol.ts';

const entry = {
  inputs: { half: { shape: [3], dtype: 'float16' as const }, levels: { shape: [2], dtype: 'uint8' as const } },
  outputs: { y: { shape: [3], dtype: 'float16' as const } },
};
const inputs = {
  half: { data: Float32Array.of(1, -2, 1 / 3), shape: [3] },
  levels: { data: Float32Array.of(0, 255), shape: [2] },
};
const HALVES = Buffer.from('003c00c05535', 'hex');
const headOf = (body: Uint8Array, length: number) =>
  JSON.parse(Buffer.from(body).subarray(0, length).toString()) as object;

test('binary transport sends half floats as two bytes each, and uint8 as one', () => {
  const { headers, body } = encodeRequest(inputs, entry, true);
  const length = Number(headers['inference-header-content-length']);
  expect(headOf(body, length)).toMatchObject({
    inputs: [
      { name: 'half', datatype: 'FP16', shape: [3], parameters: { binary_data_size: 6 } },
      { name: 'levels', datatype: 'UINT8', shape: [2], parameters: { binary_data_size: 2 } },
    ],
  });
  expect(Buffer.from(body).subarray(length)).toEqual(Buffer.concat([HALVES, Buffer.of(0, 255)]));
});

test('JSON transport sends half floats as numbers', () => {
  const { body } = encodeRequest(inputs, entry, false);
  expect(headOf(body, body.length)).toMatchObject({
    inputs: [
      { datatype: 'FP16', data: [1, -2, 0.333251953125] },
      { datatype: 'UINT8', data: [0, 255] },
    ],
  });
});

test.each([
  { how: 'as bytes', output: { parameters: { binary_data_size: 6 } }, tail: HALVES },
  { how: 'as JSON', output: { data: [1, -2, 0.333251953125] }, tail: Buffer.alloc(0) },
])('half floats $how are read as 32-bit floats', ({ output, tail }) => {
  const head = Buffer.from(JSON.stringify({ outputs: [{ name: 'y', datatype: 'FP16', shape: [3], ...output }] }));
  const { y } = decodeAnswer(Buffer.concat([head, tail]), String(head.length), entry);
  expect(y?.data).toEqual(Float32Array.of(1, -2, 0.333251953125));
});

test('half floats with an odd number of bytes are refused, and so are uint8 outputs', () => {
  const answer = (output: object, tail: string) => {
    const head = Buffer.from(JSON.stringify({ outputs: [{ name: 'y', shape: [3], ...output }] }));
    return () => decodeAnswer(Buffer.concat([head, Buffer.from(tail)]), String(head.length), entry);
  };
  const parameters = { binary_data_size: 5 };
  expect(answer({ datatype: 'FP16', parameters }, 'abcde')).toThrow(/5 bytes, no whole number of float16/);
  expect(answer({ datatype: 'UINT8', data: [1, 2, 3] }, '')).toThrow(/is UINT8, not one of FP32, FP16, INT64, INT32/);
});

test("types in model.json that differ from the server's are a problem", () => {
  const served = (half: string) => ({
    inputs: [
      { name: 'half', datatype: half, shape: [3] },
      { name: 'levels', datatype: 'UINT8', shape: [2] },
    ],
    outputs: [{ name: 'y', datatype: 'FP16', shape: [3] }],
  });
  expect(metadataProblems(served('FP16'), entry)).toEqual([]);
  expect(metadataProblems(served('FP32'), entry)).toEqual(["inputs.half.dtype: the server's is FP32"]);
});
