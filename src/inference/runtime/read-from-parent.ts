/** In a child process: asks the worker for files of its tasks. */
import { ServiceError } from '../../platform/service-error.ts';
import type { FileAnswer, MessageFromChild } from './messages.ts';

export interface FileReader {
  /** @throws ServiceError when the worker cannot read it; the signal's reason when its task is cancelled */
  read(taskId: number, file: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Call it when the worker's reply arrives. */
  arrived(readId: number, answer: FileAnswer): void;
}

export function createFileReader(send: (message: MessageFromChild) => void): FileReader {
  const waiting = new Map<number, (answer: FileAnswer) => void>();
  let lastReadId = 0;
  return {
    read: (taskId, file, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        lastReadId += 1;
        const readId = lastReadId;
        const giveUp = () => {
          waiting.delete(readId);
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.set(readId, (answer) => {
          signal.removeEventListener('abort', giveUp);
          if ('content' in answer) resolve(answer.content);
          else reject(new ServiceError(answer.code, answer.message));
        });
        send({ type: 'read', readId, taskId, file });
      }),
    arrived(readId, answer) {
      waiting.get(readId)?.(answer);
      waiting.delete(readId);
    },
  };
}
