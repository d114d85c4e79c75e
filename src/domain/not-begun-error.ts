/** No process of the model was free in time. Nothing has been done for the job: it may as well run elsewhere, or later. */
export class NotBegunError extends Error {
  override readonly name = 'NotBegunError';

  constructor(waitMs: number) {
    super(`no process of the model was free within ${waitMs / 1000} seconds`);
  }
}
