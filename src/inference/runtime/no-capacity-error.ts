/** No process of the model became free in time. Nothing was done for the job, so it may run elsewhere or later. */
export class NoCapacityError extends Error {
  override readonly name = 'NoCapacityError';

  constructor(waitMs: number) {
    super(`no process of the model was free within ${waitMs / 1000} seconds`);
  }
}
