/** Small JPEGs of pictures, decoded in a process of their own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { ServiceError } from '../../domain/service-error.ts';
import { sandboxFlags } from '../executors/sandbox.ts';
import type { Preview, PreviewAnswer, PreviewSize, PreviewTask } from './messages.ts';

interface PreviewOptions {
  size: PreviewSize;
  /** Ends the process; what waits rejects with the signal's reason. */
  signal: AbortSignal;
}

const MAIN = new URL('./child-main.ts', import.meta.url);

/** `read` gives the files one after another: one is in memory at a time. Null of a picture that cannot be read. */
export async function makePreviews(
  read: (index: number) => Promise<Uint8Array>,
  count: number,
  { size, signal }: PreviewOptions,
): Promise<(Preview | null)[]> {
  signal.throwIfAborted();
  const child = fork(MAIN, {
    serialization: 'advanced',
    // No secrets for a process that decodes strangers' files. Two arenas: glibc's default lets decoding hoard memory.
    env: { MALLOC_ARENA_MAX: '2' },
    execArgv: ['--disable-warning=ExperimentalWarning', ...sandboxFlags([])],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit').catch(() => undefined);
  const kill = () => child.kill('SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  try {
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
  const answer = new Promise<PreviewAnswer>((resolve, reject) => {
    child.once('message', resolve);
    void exited.then(() => reject(lost()));
    child.send(task, (error) => error && reject(lost()));
  });
  return (await answer).preview;
}

function lost(): ServiceError {
  const message = 'The process that read the pictures ended before it answered. Send the request again.';
  return new ServiceError('model_inference_failed', message);
}
