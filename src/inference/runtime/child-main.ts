/**
 * Entry point of an inference child process. It decodes pictures and runs the networks of one model, off the thread that
 * polls Temporal. Its environment holds no secrets, and it serves only its parent.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ServiceError } from '../../platform/service-error.ts';
import { isUnreadable } from '../models/release.ts';
import { importPipeline } from '../toolkit/endpoint-folder.ts';
import { decodeImage, restrictDecoder } from '../toolkit/images/decode-image.ts';
import { encodePicture, formatOf } from '../toolkit/images/encode-image.ts';
import { encodePictures } from '../toolkit/images/made-pictures.ts';
import { isOutOfMemory } from '../toolkit/images/out-of-memory.ts';
import type { RunnablePipeline } from '../toolkit/pipeline.ts';
import { createParentLine } from './kserve/ask-parent.ts';
import type { MessageFromChild, MessageToChild, NetworkRun, Refusal, SentTask } from './messages.ts';
import { openModel } from './onnx-model.ts';
import { probeDevice } from './probe-device.ts';
import { createFileReader } from './read-from-parent.ts';
import { RunQueue } from './run-queue.ts';

type StartMessage = Extract<MessageToChild, { type: 'start' }>;

const pipelines = new Map<string, RunnablePipeline>();
const cancellations = new Map<number, AbortController>();
/** The signal of the task that a pipeline is working on. */
const taskSignal = new AsyncLocalStorage<AbortSignal>();
/** Runs not yet reported to the parent. */
let runs: NetworkRun[] = [];
const queue = new RunQueue((run) => runs.push(run));
const parentLine = createParentLine(send);
const fileReader = createFileReader(send);

// The channel closes when the parent closes it or dies.
process.on('disconnect', () => process.exit(0));
// Signals may reach the whole process group, but the parent decides when this process ends: after its tasks.
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
    case 'content':
      return fileReader.arrived(message.readId, message.answer);
    case 'cancel':
      return cancellations.get(message.taskId)?.abort(new Error('the task was cancelled'));
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
  // Runs of the warm-up are not load.
  runs = [];
  send({ type: 'ready', refused, residentBytes: process.memoryUsage.rss() });
}

async function run(taskId: number, task: SentTask): Promise<void> {
  const cancellation = new AbortController();
  cancellations.set(taskId, cancellation);
  try {
    // Reported only when the task has really ended: until then the parent may have to kill this process.
    const result = await taskSignal.run(cancellation.signal, () => answer(taskId, task, cancellation.signal));
    send({ type: 'done', taskId, result, runs: takeRuns() });
  } catch (error) {
    // Any task in hand may have used the memory. The parent repeats each of them, alone.
    if (!(error instanceof ServiceError) && isOutOfMemory(error as Error)) process.exit(1);
    const { message, stack = '' } = error as Error;
    const code = error instanceof ServiceError ? error.code : null;
    send({ type: 'failed', taskId, code, message, detail: stack, runs: takeRuns() });
  } finally {
    cancellations.delete(taskId);
  }
}

async function answer(taskId: number, task: SentTask, signal: AbortSignal): Promise<unknown> {
  const pipeline = pipelines.get(task.endpoint);
  if (!pipeline) throw new ServiceError('model_unavailable', `${task.endpoint} has no loaded model.`);
  const pictures = task.files.map(({ mediaType, timeOffsetMs, content }, index) => ({
    format: formatOf(mediaType),
    ...(timeOffsetMs !== undefined && { timeOffsetMs }),
    decode: async () => {
      signal.throwIfAborted();
      const file = content ?? (await fileReader.read(taskId, index, signal));
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

/** Adds the picture's number to the message, for a request with several pictures. */
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
  // Without a parent, `disconnect` ends this process.
  if (process.connected) process.send?.(message);
}
