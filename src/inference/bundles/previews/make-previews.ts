/** Small JPEGs of pictures, decoded in their own process. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { ServiceError } from '../../../platform/service-error.ts';
import { boundMemory, forkInSandbox } from '../../runtime/sandbox.ts';
import type { Preview, PreviewMessage, PreviewSize, PreviewTask } from './messages.ts';

interface PreviewOptions {
  size: PreviewSize;
  /** Ends the process; the call then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Memory that the process may allocate beyond what it holds when warm; no limit when 0 or omitted. */
  workingMemoryBytes?: number | undefined;
}

const MAIN = new URL('./child-main.ts', import.meta.url);

/**
 * @param read returns a picture's file; called in order, so that one file is in memory at a time
 * @returns null for each picture that cannot be read
 * @throws ServiceError when the process is lost; the signal's reason on abort
 */
export async function makePreviews(
  read: (index: number) => Promise<Uint8Array>,
  count: number,
  { size, signal, workingMemoryBytes = 0 }: PreviewOptions,
): Promise<(Preview | null)[]> {
  signal.throwIfAborted();
  const child = forkInSandbox(MAIN);
  const exited = once(child, 'exit').catch(() => undefined);
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
    await messageOf(child, exited);
    if (child.pid !== undefined && workingMemoryBytes > 0) await boundMemory(child.pid, workingMemoryBytes);
    const previews: (Preview | null)[] = [];
    for (let index = 0; index < count; index += 1) {
      previews.push(await preview(child, exited, { picture: await read(index), size }));
    }
    return previews;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', kill);
    kill();
    await exited;
  }
}

async function preview(child: ChildProcess, exited: Promise<unknown>, task: PreviewTask): Promise<Preview | null> {
  const answer = messageOf(child, exited);
  child.send(task, (error) => error && child.kill('SIGKILL'));
  const message = await answer;
  return message.type === 'made' ? message.preview : null;
}

/** @throws ServiceError when the process ends first */
function messageOf(child: ChildProcess, exited: Promise<unknown>): Promise<PreviewMessage> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    void exited.then(() => reject(lost()));
  });
}

function lost(): ServiceError {
  const message = 'The process that read the pictures ended early. Send the request again.';
  return new ServiceError('model_inference_failed', message);
}
