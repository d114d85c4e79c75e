/** Clean-up steps, run in reverse order whatever happens in between. */
export class Cleanup {
  readonly #steps: (() => unknown)[] = [];

  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Runs all steps, even if one fails. @throws the first failure. */
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

/** Runs work and then its clean-up. An error of the work takes precedence. */
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
