/** How a job of test mode ends that does not simply succeed at its full price. */
import type { ErrorCode } from '../contracts/error-codes.ts';
import type { InferenceOutcome } from '../contracts/job.ts';

/** Of an endpoint of one step it holds `chargedShare`. Of a bundle the status follows from its stages, and is stated only. */
export interface FixtureEnd {
  status: InferenceOutcome['status'];
  /** Of the credits held, the share that is charged: 0 to 1. */
  chargedShare?: number;
  /** The stages of a bundle that end otherwise than by what the fixture shows of them. */
  stages?: FixtureStage[];
}

interface FixtureStage {
  name: string;
  status: 'failed' | 'skipped';
  error?: { code: ErrorCode; message: string };
}

export function endAs(
  { status, chargedShare }: FixtureEnd,
  result: unknown,
  reservedCredits: number,
): InferenceOutcome {
  if (chargedShare === undefined) throw new Error('the outcome of a fixture does not say what is charged');
  return { status, result, error: null, chargedCredits: Math.round(reservedCredits * chargedShare) };
}
