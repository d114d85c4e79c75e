/**
 * Runs all networks of a process one at a time: `session.run` occupies its thread and all cores it may use. Calls that
 * arrive during a run are batched if they have the same network and sample shape. Without load a call starts at once, so
 * batching adds no latency.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../../platform/service-error.ts';
import type { ModelInputs } from '../models/model.ts';
import type { NetworkRun } from './messages.ts';

type TensorData = Float32Array | BigInt64Array | Int32Array | Uint8Array;

/** A tensor as ONNX Runtime returns it. */
export interface RawTensor {
  readonly type: string;
  readonly data: unknown;
  readonly dims: readonly number[];
}
export type RawOutputs = Readonly<Record<string, RawTensor>>;

/** A loaded file of a model. */
export interface Network {
  modelVersion: string;
  file: string;
  /** Most samples in a batch; 1 when the network has no batch dimension. */
  maximumBatch: number;
  /**
   * @param signal ends the wait for a network on a server
   * @throws ServiceError when no input is at fault; for any other Error an input may be
   */
  run(inputs: ModelInputs, signal?: AbortSignal): Promise<RawOutputs>;
}

interface Call {
  network: Network;
  inputs: ModelInputs;
  /** Calls with equal keys fit into one batch; null fits none. */
  shapeKey: string | null;
  samples: number;
  signal: AbortSignal | undefined;
  enqueuedAtMs: number;
  resolve: (outputs: RawOutputs) => void;
  reject: (error: Error) => void;
}

export class RunQueue {
  readonly #onRun: (run: NetworkRun) => void;
  readonly #waiting: Call[] = [];
  #isRunning = false;

  constructor(onRun: (run: NetworkRun) => void) {
    this.#onRun = onRun;
  }

  /**
   * Runs a network, alone or in a batch; returns the outputs of these inputs either way.
   * @throws the network's error for these inputs; the signal's reason when it is aborted before the run begins
   */
  run(network: Network, inputs: ModelInputs, signal?: AbortSignal): Promise<RawOutputs> {
    return new Promise((resolve, reject) => {
      const samples = Object.values(inputs)[0]?.shape[0] ?? 1;
      const shapeKey = network.maximumBatch > 1 ? shapeKeyOf(inputs, samples) : null;
      const enqueuedAtMs = performance.now();
      this.#waiting.push({ network, inputs, shapeKey, samples, signal, enqueuedAtMs, resolve, reject });
      if (!this.#isRunning) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      // Lets calls of this turn of the event loop join the batch. Without load this costs some microseconds.
      if (this.#waiting[0]?.shapeKey) await nextTurn();
      const batch = this.#takeBatch();
      if (!batch) break;
      await this.#runBatch(batch);
    }
    this.#isRunning = false;
  }

  /** The call that has waited longest, with those that fit its batch. */
  #takeBatch(): [Call, ...Call[]] | undefined {
    const live = this.#waiting.splice(0).filter(({ signal, reject }) => {
      if (signal?.aborted) reject(signal.reason as Error);
      return !signal?.aborted;
    });
    const [first, ...others] = live;
    if (!first) return undefined;
    const batch: [Call, ...Call[]] = [first];
    let { samples } = first;
    for (const call of others) {
      const fits = call.network === first.network && first.shapeKey !== null && call.shapeKey === first.shapeKey;
      if (fits && samples + call.samples <= first.network.maximumBatch) {
        batch.push(call);
        samples += call.samples;
      } else {
        this.#waiting.push(call);
      }
    }
    return batch;
  }

  async #runBatch(batch: readonly [Call, ...Call[]]): Promise<void> {
    const [first] = batch;
    if (batch.length === 1) {
      await this.#measure(batch, first.inputs).then(first.resolve, first.reject);
      return;
    }
    try {
      const parts = await this.#runTogether(batch);
      for (const [index, call] of batch.entries()) call.resolve(parts[index] as RawOutputs);
    } catch (error) {
      for (const call of batch) {
        // An unreachable server fails all of them.
        if (error instanceof ServiceError) call.reject(error);
        // One input may have failed the batch: run each alone, so that only that one fails.
        else await this.#runBatch([call]);
      }
    }
  }

  async #runTogether(batch: readonly [Call, ...Call[]]): Promise<RawOutputs[]> {
    const outputs = await this.#measure(batch, joined(batch.map(({ inputs }) => inputs)));
    return split(
      outputs,
      batch.map(({ samples }) => samples),
    );
  }

  async #measure(batch: readonly [Call, ...Call[]], inputs: ModelInputs): Promise<RawOutputs> {
    const { modelVersion, file } = batch[0].network;
    const startedAtMs = performance.now();
    try {
      // A batch also serves the callers that still wait, so one caller's signal must not end it.
      return await batch[0].network.run(inputs, batch.length === 1 ? batch[0].signal : undefined);
    } finally {
      this.#onRun({
        modelVersion,
        file,
        samples: batch.reduce((sum, { samples }) => sum + samples, 0),
        waitsMs: batch.map(({ enqueuedAtMs }) => startedAtMs - enqueuedAtMs),
        computeMs: performance.now() - startedAtMs,
      });
    }
  }
}

/** Null when the inputs differ in their number of samples. */
function shapeKeyOf(inputs: ModelInputs, samples: number): string | null {
  const entries = Object.entries(inputs).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (entries.some(([, { shape }]) => shape[0] !== samples)) return null;
  return JSON.stringify(entries.map(([name, { data, shape }]) => [name, data.constructor.name, shape.slice(1)]));
}

/** Concatenates inputs along the first dimension. */
function joined(calls: readonly ModelInputs[]): ModelInputs {
  const names = Object.keys(calls[0] ?? {});
  return Object.fromEntries(
    names.map((name) => {
      const tensors = calls.flatMap((inputs) => inputs[name] ?? []);
      const samples = tensors.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
      const shape = [samples, ...(tensors[0]?.shape.slice(1) ?? [])];
      const length = tensors.reduce((sum, { data }) => sum + data.length, 0);
      if (tensors[0]?.data instanceof BigInt64Array) {
        const data = new BigInt64Array(length);
        fill(data, tensors as { data: BigInt64Array }[]);
        return [name, { data, shape }];
      }
      const data = new Float32Array(length);
      fill(data, tensors as { data: Float32Array }[]);
      return [name, { data, shape }];
    }),
  );
}

function fill<Data extends Float32Array | BigInt64Array>(target: Data, parts: readonly { data: Data }[]): void {
  let offset = 0;
  for (const { data } of parts) {
    // The element types agree: the calls have one shape key.
    (target as Float32Array).set(data as Float32Array, offset);
    offset += data.length;
  }
}

/** @throws Error when an output's number of samples differs from the inputs' */
function split(outputs: RawOutputs, samples: readonly number[]): RawOutputs[] {
  const total = samples.reduce((sum, count) => sum + count, 0);
  let first = 0;
  return samples.map((count) => {
    const from = first;
    first += count;
    return Object.fromEntries(
      Object.entries(outputs).map(([name, { type, data, dims }]) => {
        if (dims[0] !== total) throw new Error(`output ${name} has ${dims[0]} samples for ${total}`);
        const values = data as TensorData;
        const perSample = values.length / total;
        const part = values.subarray(from * perSample, (from + count) * perSample);
        return [name, { type, data: part, dims: [count, ...dims.slice(1)] }];
      }),
    );
  });
}
