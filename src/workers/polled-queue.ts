/** One task queue of a worker process, polled while there is something to do on it. */
import type { Worker } from '@temporalio/worker';

export interface PolledQueueOptions {
  taskQueue: string;
  createWorker: () => Promise<Worker>;
  /** Whether the process can do what comes in on the queue. */
  isWanted: () => boolean;
}

/** A worker of Temporal cannot pause: each time the queue is polled anew, it is by another one. */
export class PolledQueue {
  readonly taskQueue: string;
  readonly #options: PolledQueueOptions;
  readonly #failed = Promise.withResolvers<never>();
  #worker: Worker | null = null;
  /** Ends when the worker has. */
  #running: Promise<void> = Promise.resolve();
  #looking: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(options: PolledQueueOptions) {
    this.#options = options;
    this.taskQueue = options.taskQueue;
    this.failed.catch(() => {});
  }

  /** Rejects when a worker has failed for good. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  get isWanted(): boolean {
    return this.#options.isWanted();
  }

  get isPolled(): boolean {
    if (!this.#worker) return false;
    const { runState, workflowPollerState, activityPollerState } = this.#worker.getStatus();
    // A worker that has no workflows reports its workflow poller as shut down.
    return runState === 'RUNNING' && [workflowPollerState, activityPollerState].includes('POLLING');
  }

  /**
   * Begins to poll, or stops, as it is wanted; answers which. What runs is finished first: a worker that shuts down gives its
   * activities no more than its grace, so the queue is polled until nothing runs.
   * @throws when it should begin, and Temporal is away
   */
  look(): Promise<'begun' | 'ended' | null> {
    const looked = this.#looking.then(() => this.#look());
    this.#looking = looked.catch(() => undefined);
    return looked;
  }

  /** Stops for good: with what runs, or when the grace of the worker is over. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#worker) await this.#shutDown(this.#worker);
    // It may just have begun.
    await this.#looking;
    if (this.#worker) await this.#shutDown(this.#worker);
  }

  async #look(): Promise<'begun' | 'ended' | null> {
    if (this.#isStopped) return null;
    const { createWorker, isWanted } = this.#options;
    if (isWanted()) {
      if (this.#worker) return null;
      this.#worker = await createWorker();
      this.#running = this.#worker.run();
      this.#running.catch(this.#failed.reject);
      return 'begun';
    }
    if (this.#worker?.getStatus().numInFlightActivities !== 0) return null;
    await this.#shutDown(this.#worker);
    return 'ended';
  }

  async #shutDown(worker: Worker): Promise<void> {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await this.#running;
    if (this.#worker === worker) this.#worker = null;
  }
}
