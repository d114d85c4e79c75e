/** Polls the task queues that a worker process can serve, as its models come and go. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { PolledQueue } from './polled-queue.ts';

interface Options {
  queues: readonly PolledQueue[];
  logger: Logger;
  intervalMs?: number;
}

const INTERVAL_MS = 1_000;

export class FollowedQueues {
  readonly #options: Options;
  readonly #stopping = new AbortController();
  /** Whether the log has said that a queue is polled. */
  #isReady = false;
  #following: Promise<unknown> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether the process polls every queue that it can serve, and at least one. */
  get arePolled(): boolean {
    const { queues } = this.#options;
    return queues.some(({ isPolled }) => isPolled) && queues.every(({ isWanted, isPolled }) => isPolled || !isWanted);
  }

  /**
   * Resolves when every wanted queue is polled, and keeps checking from then on.
   * @throws when Temporal is away
   */
  async begin(): Promise<void> {
    const { queues, logger } = this.#options;
    const changes = await Promise.all(queues.map((queue) => queue.look()));
    const namesOf = (change: 'begun' | null) =>
      queues.filter((_, at) => changes[at] === change).map(({ taskQueue }) => taskQueue);
    const [begun, waiting] = [namesOf('begun'), namesOf(null)];
    if (this.#stopping.signal.aborted) return;
    this.#following = Promise.all(queues.map((queue) => this.#follow(queue)));
    if (waiting.length > 0) logger.warn({ taskQueues: waiting }, 'nothing can be served: task queues are not polled');
    if (begun.length > 0) this.#sayBegun(begun);
  }

  /** Lets running activities finish within the grace of each worker. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#options.queues.map((queue) => queue.stop()));
    await this.#following;
  }

  async #follow(queue: PolledQueue): Promise<void> {
    const { logger, intervalMs = INTERVAL_MS } = this.#options;
    const { signal } = this.#stopping;
    const taskQueues = [queue.taskQueue];
    while (!signal.aborted) {
      await delay(intervalMs, undefined, { signal }).catch(() => {});
      const change = await queue.look().catch((err: unknown) => {
        logger.warn({ err, taskQueues }, 'task queues cannot be polled; the next check tries again');
        return null;
      });
      if (change === 'begun') this.#sayBegun(taskQueues);
      if (change === 'ended') logger.warn({ taskQueues }, 'nothing can be served any more: task queues are not polled');
    }
  }

  #sayBegun(taskQueues: readonly string[]): void {
    this.#options.logger.info({ taskQueues }, this.#isReady ? 'task queues are polled' : 'worker ready');
    this.#isReady = true;
  }
}
