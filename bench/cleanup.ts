/** What has to be undone, whatever happens in between: the last thing first. */
export class Cleanup {
  readonly #steps: (() => unknown)[] = [];

  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Goes through all of it, also when a step fails. @throws the first failure. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Runs work and then whatever it asked to be undone. An error of the work itself is the one that counts. */
export async function withCleanup<Result>(work: (cleanup: Cleanup) => Promise<Result>): Promise<Result> {
  const cleanup = new Cleanup();
  let result: Result;
  try {
    result = await work(cleanup);
  } catch (error) {
    await cleanup.run().catch((err: unknown) => console.error('While cleaning up:', err));
    throw error;
  }
  await cleanup.run();
  return result;
}
