/**
 * Entry point of an inference child process: decodes pictures and runs the networks of one model, off the thread that
 * polls Temporal. It gets no secrets (its environment holds none) and serves nobody but its parent.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ServiceError } from '../../domain/service-error.ts';
import { importPipeline } from '../endpoint-folder.ts';
import { decodeImage, restrictDecoder } from '../images/decode-image.ts';
import { encodePicture, formatOf } from '../images/encode-image.ts';
import { encodePictures } from '../made-files.ts';
import { openModel } from '../models/onnx-model.ts';
import { isUnreadable } from '../models/release.ts';
import { isOutOfMemory } from '../out-of-memory.ts';
import type { RunnablePipeline } from '../pipeline.ts';
import { createParentLine } from '../remote/ask-parent.ts';
import type { InferenceTask, MessageFromChild, MessageToChild, NetworkRun, Refusal } from './messages.ts';
import { probeDevice } from './probe-device.ts';
import { RunQueue } from './run-queue.ts';

type StartMessage = Extract<MessageToChild, { type: 'start' }>;

const pipelines = new Map<string, RunnablePipeline>();
const cancellations = new Map<number, AbortController>();
/** Of the task that a pipeline works for. */
const taskSignal = new AsyncLocalStorage<AbortSignal>();
/** Not yet reported. */
let runs: NetworkRun[] = [];
const queue = new RunQueue((run) => runs.push(run));
const parentLine = createParentLine(send);

// The channel closes when the parent closes it, and when the parent dies in any way.
process.on('disconnect', () => process.exit(0));
// Signals may reach the whole process group: the parent decides when this process ends, after the work in hand.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

restrictDecoder();

process.on('message', (message: MessageToChild) => {
  switch (message.type) {
    case 'start':
      return void start(message);
    case 'probe':
      return void probeDevice(message.device).then((problem) => send({ type: 'probed', problem }));
    case 'run':
      return void run(message.taskId, message.task);
    case 'answered':
      return parentLine.answered(message.askId, message.answer);
    case 'cancel':
      return cancellations.get(message.taskId)?.abort(new Error('nobody waits for this task any more'));
  }
});

async function start({ model: installed, threads, device, pipelines: served }: StartMessage): Promise<void> {
  const refused: Refusal[] = [];
  try {
    const model = await openModel(installed, {
      threads,
      device,
      run: (network, inputs) => queue.run(network, inputs, taskSignal.getStore()),
      ask: parentLine.ask,
    });
    for (const { endpoint, pipelineUrl } of served) {
      try {
        const definition = await importPipeline(new URL(pipelineUrl));
        pipelines.set(endpoint, definition.create(model));
      } catch (error) {
        refused.push({ endpoint, reason: (error as Error).message });
      }
    }
  } catch (error) {
    const refusal = { reason: (error as Error).message, isUnreadable: isUnreadable(error as Error) };
    refused.push(...served.map(({ endpoint }) => ({ endpoint, ...refusal })));
  }
  // Those of the warm-up say nothing of the load.
  runs = [];
  send({ type: 'ready', refused, residentBytes: process.memoryUsage.rss() });
}

async function run(taskId: number, task: InferenceTask): Promise<void> {
  const cancellation = new AbortController();
  cancellations.set(taskId, cancellation);
  try {
    // A cancelled task is answered when it has truly ended: as long as it goes on, the parent may have to end this process.
    const result = await taskSignal.run(cancellation.signal, () => answer(task, cancellation.signal));
    send({ type: 'done', taskId, result, runs: takeRuns() });
  } catch (error) {
    // Which of the tasks here took it, nobody knows. The parent repeats each of them, alone.
    if (!(error instanceof ServiceError) && isOutOfMemory(error as Error)) process.exit(1);
    const { message, stack = '' } = error as Error;
    const code = error instanceof ServiceError ? error.code : null;
    send({ type: 'failed', taskId, code, message, detail: stack, runs: takeRuns() });
  } finally {
    cancellations.delete(taskId);
  }
}

async function answer(task: InferenceTask, signal: AbortSignal): Promise<unknown> {
  const pipeline = pipelines.get(task.endpoint);
  if (!pipeline) throw new ServiceError('model_unavailable', `${task.endpoint} has no loaded model.`);
  const pictures = task.files.map((file, index) => ({
    format: formatOf(file),
    decode: async () => {
      signal.throwIfAborted();
      const decoded = await decodeImage(file).catch((error: Error) => {
        throw task.files.length === 1 ? error : ofPicture(index, error);
      });
      signal.throwIfAborted();
      return decoded;
    },
  }));
  const result = await pipeline({ pictures, parameters: task.parameters });
  return encodePictures(result, encodePicture);
}

/** Of several pictures, the message says which. */
function ofPicture(index: number, error: Error): Error {
  if (!(error instanceof ServiceError)) return error;
  return new ServiceError(error.code, `Picture ${index + 1}: ${error.message}`, { cause: error });
}

function takeRuns(): NetworkRun[] {
  const taken = runs;
  runs = [];
  return taken;
}

function send(message: MessageFromChild): void {
  // A parent that is gone has nobody to tell; `disconnect` ends this process.
  if (process.connected) process.send?.(message);
}
