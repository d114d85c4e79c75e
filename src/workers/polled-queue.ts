/** One task queue of a worker process, polled while the process can serve it. */
import type { Worker } from '@temporalio/worker';

export interface PolledQueueOptions {
  taskQueue: string;
  createWorker: () => Promise<Worker>;
  /** Whether the process can serve the queue. */
  isWanted: () => boolean;
}

/** A Temporal worker cannot pause, so polling the queue again takes a new worker. */
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

  /** Rejects when a worker has failed permanently. */
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
   * Starts or stops polling as wanted, and returns the change. A worker that shuts down gives its activities no more than
   * its grace, so the queue is polled until no activity runs.
   * @throws when polling should start and Temporal is away
   */
  look(): Promise<'begun' | 'ended' | null> {
    const looked = this.#looking.then(() => this.#look());
    this.#looking = looked.catch(() => undefined);
    return looked;
  }

  /** Stops permanently, once running activities have ended or the worker's grace is over. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#worker) await this.#shutDown(this.#worker);
    // A worker may just have been created.
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
