/** Outcome of a test-mode bundle in which not every stage succeeds. */
import type { ErrorCode } from '../../contracts/error-codes.ts';
import type { InferenceOutcome } from '../../contracts/job.ts';

/** The status follows from the stages; here it is for readers only. */
export interface FixtureOutcome {
  status: InferenceOutcome['status'];
  /** Stages of a bundle whose end differs from what the fixture's result shows. */
  stages?: FixtureStage[];
}

interface FixtureStage {
  name: string;
  status: 'failed' | 'skipped';
  error?: { code: ErrorCode; message: string };
}
