/**
 * Tensors in the KServe v2 inference protocol over HTTP: as JSON or, if the server supports the extension
 * `binary_tensor_data`, as bytes after a JSON header. Sources: the Open Inference Protocol's `rest_predict_v2.yaml`,
 * Triton's `extension_binary_data.md`.
 */
import type { ModelManifest } from '../../models/manifest.ts';
import type { ModelInputs } from '../../models/model.ts';
import { isOfShape, OUTPUT_TYPES, toInput } from '../../models/tensor-types.ts';

type FileEntry = ModelManifest['files'][string];
type TensorEntries = Readonly<Record<string, { shape: readonly (number | string)[]; dtype?: string }>>;
type Fields = Readonly<Record<string, unknown>>;

export interface EncodedRequest {
  headers: Record<string, string>;
  body: Uint8Array;
}

/** An output: float32, float16 (as 32-bit floats), int64 or int32. */
export interface DecodedTensor {
  type: string;
  data: Float32Array | BigInt64Array | Int32Array;
  dims: readonly number[];
}

/** Length in bytes of the JSON that precedes the tensors. */
export const JSON_LENGTH_HEADER = 'inference-header-content-length';
export const BINARY_EXTENSION = 'binary_tensor_data';

const DATATYPES: Readonly<Record<string, string>> = {
  FP32: 'float32',
  FP16: 'float16',
  UINT8: 'uint8',
  INT64: 'int64',
  INT32: 'int32',
};
/** Datatypes that outputs may have. */
const READABLE = Object.keys(DATATYPES).filter((datatype) => OUTPUT_TYPES.some((type) => type === DATATYPES[datatype]));

export function encodeRequest(
  inputs: ModelInputs,
  entry: Pick<FileEntry, 'inputs' | 'outputs'>,
  isBinary: boolean,
): EncodedRequest {
  const tensors = Object.entries(inputs).map(([name, tensor]) => {
    return { name, shape: tensor.shape, ...toInput(tensor, entry.inputs[name]?.dtype) };
  });
  const described = tensors.map(({ name, shape, type, data }) => ({
    name,
    shape,
    datatype: Object.keys(DATATYPES).find((datatype) => DATATYPES[datatype] === type),
    ...(isBinary
      ? { parameters: { binary_data_size: data.byteLength } }
      : { data: Array.from<unknown, number>(data, Number) }),
  }));
  const outputs = Object.keys(entry.outputs);
  const wanted = outputs.map((name) => ({ name, ...(isBinary && { parameters: { binary_data: true } }) }));
  const json = Buffer.from(JSON.stringify({ inputs: described, outputs: wanted }));
  if (!isBinary) return { headers: { 'content-type': 'application/json' }, body: json };
  return {
    headers: { 'content-type': 'application/octet-stream', [JSON_LENGTH_HEADER]: String(json.length) },
    body: Buffer.concat([json, ...tensors.map(({ data }) => bytesOf(data))]),
  };
}

/**
 * Reads a response and checks it against `model.json`: a running server may load another model.
 * @throws Error when the response violates the protocol or `entry`
 */
export function decodeAnswer(
  body: Buffer,
  jsonLength: string | undefined,
  entry: Pick<FileEntry, 'kserve' | 'outputs'>,
): Record<string, DecodedTensor> {
  const headLength = jsonLength === undefined ? body.length : Number(jsonLength);
  if (!Number.isInteger(headLength) || headLength < 0 || headLength > body.length) {
    throw new Error(`the server's ${JSON_LENGTH_HEADER} is ${jsonLength}, its response has ${body.length} bytes`);
  }
  const { outputs, model_version: servedVersion } = parse(body.subarray(0, headLength));
  const version = entry.kserve?.version;
  // The protocol lets a server leave its version out.
  if (version !== undefined && (servedVersion ?? version) !== version) {
    throw new Error(`the server serves version ${String(servedVersion)} of the model, not ${version}`);
  }
  if (!Array.isArray(outputs)) throw new Error('the response of the server has no outputs');
  let offset = headLength;
  const decoded: [string, DecodedTensor][] = [];
  for (const output of outputs as (Fields | null)[]) {
    if (typeof output !== 'object' || output === null) throw new Error('the server has an output that is no object');
    const { name, datatype, shape, data, parameters } = output;
    const where = `output ${String(name)} of the server`;
    const type = DATATYPES[String(datatype)];
    if (type === undefined || !READABLE.includes(String(datatype))) {
      throw new Error(`${where} is ${String(datatype)}, not one of ${READABLE.join(', ')}`);
    }
    if (!Array.isArray(shape) || !shape.every((length) => Number.isInteger(length) && length >= 0)) {
      throw new Error(`${where} has the shape ${JSON.stringify(shape)}`);
    }
    const size = (parameters as Fields | undefined)?.binary_data_size;
    if (size !== undefined && !(Number.isInteger(size) && Number(size) >= 0)) {
      throw new Error(`${where} has the binary_data_size ${JSON.stringify(size)}`);
    }
    let values: DecodedTensor['data'];
    if (typeof size === 'number') {
      values = fromBytes(body.subarray(offset, offset + size), type, where);
      offset += size;
      const missing = offset - body.length;
      if (missing > 0) throw new Error(`${where} states ${size} bytes, ${missing} more than came`);
    } else {
      values = fromNumbers(data, type, where);
    }
    const dims = shape as number[];
    const length = dims.reduce((product, dimension) => product * dimension, 1);
    if (values.length !== length) {
      throw new Error(`${where} has ${values.length} values for the shape [${dims.join(', ')}]`);
    }
    const stated = Object.hasOwn(entry.outputs, String(name)) ? entry.outputs[String(name)] : undefined;
    if (stated && !isOfShape(dims, stated.shape)) {
      throw new Error(`${where} has the shape [${dims.join(', ')}], model.json says [${stated.shape.join(', ')}]`);
    }
    if (stated && (stated.dtype ?? type) !== type) {
      throw new Error(`${where} is ${String(datatype)}, model.json says ${stated.dtype}`);
    }
    decoded.push([String(name), { type, data: values, dims }]);
  }
  if (offset < body.length) throw new Error(`the server sent ${body.length - offset} bytes that belong to no output`);
  return Object.fromEntries(decoded);
}

/**
 * Compares `model.json` with a server's metadata of its model.
 * @returns the differences by field. Tensors that the server does not list are not compared.
 */
export function metadataProblems(metadata: unknown, entry: Pick<FileEntry, 'inputs' | 'outputs'>): string[] {
  const { inputs, outputs } = metadata as { inputs?: Fields[]; outputs?: Fields[] };
  return [
    ...tensorProblems('inputs', entry.inputs, inputs ?? []),
    ...surplusInputs(entry.inputs, inputs ?? []),
    ...tensorProblems('outputs', entry.outputs, outputs ?? []),
  ];
}

function tensorProblems(kind: string, stated: TensorEntries, served: readonly Fields[]): string[] {
  if (served.length === 0) return [];
  return Object.entries(stated).flatMap(([name, { shape, dtype }]) => {
    const tensor = served.find((candidate) => candidate.name === name);
    if (!tensor) return [`${kind}.${name}: the server has ${served.map((other) => String(other.name)).join(', ')}`];
    const problems: string[] = [];
    const servedType = DATATYPES[String(tensor.datatype)];
    // Without a dtype in model.json an input is float32, and an output has the server's type.
    const wantedType = dtype ?? (kind === 'inputs' ? 'float32' : servedType);
    const isType = servedType !== undefined && servedType === wantedType;
    if (!isType) problems.push(`${kind}.${name}.dtype: the server's is ${String(tensor.datatype)}`);
    const servedShape = Array.isArray(tensor.shape) ? (tensor.shape as number[]) : [];
    const fits =
      servedShape.length === shape.length &&
      // Either side may leave a length open.
      shape.every((length, axis) => Number(servedShape[axis]) === -1 || servedShape[axis] === length);
    if (!fits) {
      problems.push(`${kind}.${name}.shape is [${shape.join(', ')}], the server's [${servedShape.join(', ')}]`);
    }
    return problems;
  });
}

function surplusInputs(stated: TensorEntries, served: readonly Fields[]): string[] {
  const surplus = served.filter(({ name }) => !Object.hasOwn(stated, String(name)));
  return surplus.map(({ name }) => `inputs.${String(name)} is missing: the server asks for it`);
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  // Little-endian, as in the protocol and on every platform of Node.js.
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function fromBytes(bytes: Buffer, type: string, where: string): DecodedTensor['data'] {
  const width = { float16: 2, int64: 8 }[type] ?? 4;
  if (bytes.length % width !== 0) throw new Error(`${where} has ${bytes.length} bytes, no whole number of ${type}`);
  // A copy, because typed arrays need aligned bytes.
  const aligned = new Uint8Array(bytes).buffer;
  if (type === 'int64') return new BigInt64Array(aligned);
  if (type === 'float16') return new Float32Array(new Float16Array(aligned));
  return type === 'int32' ? new Int32Array(aligned) : new Float32Array(aligned);
}

function fromNumbers(data: unknown, type: string, where: string): DecodedTensor['data'] {
  // The protocol lets a server nest the values by dimension.
  const values: unknown[] = Array.isArray(data) ? data.flat(Number.POSITIVE_INFINITY) : [];
  if (!values.every((value): value is number => typeof value === 'number')) {
    throw new Error(`${where} holds something that is no number`);
  }
  if (type === 'float32' || type === 'float16') return Float32Array.from(values);
  return type === 'int32' ? Int32Array.from(values) : BigInt64Array.from(values, (value) => BigInt(Math.trunc(value)));
}

function parse(json: Buffer): Fields {
  let value: unknown;
  try {
    value = JSON.parse(json.toString('utf8'));
  } catch {
    // Reported below.
  }
  if (typeof value !== 'object' || value === null) throw new Error('the response of the server is not a JSON object');
  return value as Fields;
}
