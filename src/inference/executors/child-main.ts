/**
 * Entry point of an inference child process: decodes pictures and runs ONNX Runtime, one task at a time, off the thread
 * that polls Temporal. It gets no secrets (its environment is empty) and serves nobody but its parent.
 */
import { ServiceError } from '../../domain/service-error.ts';
import { importPipeline } from '../endpoint-folder.ts';
import { decodeImage, restrictDecoder } from '../images/decode-image.ts';
import { encodeGreyPng } from '../images/encode-image.ts';
import { encodePictures } from '../made-files.ts';
import { openModel } from '../models/onnx-model.ts';
import type { RunnablePipeline } from '../pipeline.ts';
import type { InferenceTask, MessageFromChild, MessageToChild, ServedEndpoint } from './messages.ts';

const pipelines = new Map<string, RunnablePipeline>();

// The channel closes when the parent closes it, and when the parent dies in any way.
process.on('disconnect', () => process.exit(0));
// Ctrl-C reaches the whole process group: the parent decides when this process ends, after the work in hand.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);

restrictDecoder();

process.on('message', (message: MessageToChild) => {
  if (message.type === 'start') void start(message.endpoints, message.threads);
  else void run(message.taskId, message.task);
});

async function start(endpoints: readonly ServedEndpoint[], threads: number): Promise<void> {
  const refused: { endpoint: string; reason: string }[] = [];
  for (const { endpoint, pipelineUrl, model } of endpoints) {
    try {
      const definition = await importPipeline(new URL(pipelineUrl));
      pipelines.set(endpoint, definition.create(await openModel(model, threads)));
    } catch (error) {
      refused.push({ endpoint, reason: (error as Error).message });
    }
  }
  send({ type: 'ready', refused });
}

async function run(taskId: number, task: InferenceTask): Promise<void> {
  try {
    const pipeline = pipelines.get(task.endpoint);
    if (!pipeline) throw new ServiceError('model_unavailable', `${task.endpoint} has no loaded model.`);
    const images = [];
    for (const file of task.files) images.push(await decodeImage(file));
    const result = await pipeline({ images, parameters: task.parameters });
    send({ type: 'done', taskId, result: await encodePictures(result, encodeGreyPng) });
  } catch (error) {
    const { message, stack = '' } = error as Error;
    send({ type: 'failed', taskId, code: error instanceof ServiceError ? error.code : null, message, detail: stack });
  }
}

function send(message: MessageFromChild): void {
  // A parent that is gone has nobody to tell; `disconnect` ends this process.
  if (process.connected) process.send?.(message);
}
