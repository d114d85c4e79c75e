/** In the worker: a child's pending requests to KServe servers. */
import type { MessageFromChild, MessageToChild } from '../messages.ts';
import type { AskServer } from './kserve-servers.ts';

const NO_SERVERS: AskServer = async () => ({ problem: 'KSERVE_SERVERS names no server', mayPass: false });

export class ChildAsks {
  readonly #askServer: AskServer;
  readonly #answer: (message: MessageToChild) => void;
  readonly #underWay = new Map<number, AbortController>();

  constructor(askServer: AskServer | undefined, answer: (message: MessageToChild) => void) {
    this.#askServer = askServer ?? NO_SERVERS;
    this.#answer = answer;
  }

  take(message: MessageFromChild): void {
    if (message.type === 'ask') void this.#ask(message);
    else if (message.type === 'forget') this.#underWay.get(message.askId)?.abort();
  }

  /** Aborts every pending request: the child is gone. */
  forgetAll(): void {
    for (const controller of this.#underWay.values()) controller.abort();
  }

  async #ask({ askId, request }: Extract<MessageFromChild, { type: 'ask' }>): Promise<void> {
    const controller = new AbortController();
    this.#underWay.set(askId, controller);
    try {
      const answer = await this.#askServer(request, controller.signal);
      this.#answer({ type: 'answered', askId, answer });
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#answer({ type: 'answered', askId, answer: { problem: (error as Error).message, mayPass: true } });
    } finally {
      this.#underWay.delete(askId);
    }
  }
}
