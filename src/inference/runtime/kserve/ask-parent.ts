/** In a child process: sends requests for KServe servers to the worker. */
import type { MessageFromChild } from '../messages.ts';
import type { AskParent } from './kserve-network.ts';
import type { ServerAnswer } from './kserve-servers.ts';

export interface ParentLine {
  ask: AskParent;
  /** Call it when the worker's reply arrives. */
  answered(askId: number, answer: ServerAnswer): void;
}

export function createParentLine(send: (message: MessageFromChild) => void): ParentLine {
  const waiting = new Map<number, (answer: ServerAnswer) => void>();
  let lastAskId = 0;
  return {
    ask: (request, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        lastAskId += 1;
        const askId = lastAskId;
        const forget = () => {
          waiting.delete(askId);
          send({ type: 'forget', askId });
          reject(signal?.reason as Error);
        };
        signal?.addEventListener('abort', forget, { once: true });
        waiting.set(askId, (answer) => {
          signal?.removeEventListener('abort', forget);
          resolve(answer);
        });
        send({ type: 'ask', askId, request });
      }),
    answered(askId, answer) {
      waiting.get(askId)?.(answer);
      waiting.delete(askId);
    },
  };
}
