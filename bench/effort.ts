/** The extent of a measurement. `quick` only shows that everything runs; its figures mean little. */
export interface Effort {
  rounds: number;
  /** Rounds of one comparison. */
  budgetMs: number;
  /** Duration of a turn of jobs through Temporal, at some tens per second. */
  jobs: { rampMs: number; windowMs: number };
  /** Jobs of a turn with one in flight. */
  latencyJobs: number;
  /** The same with a slow model. */
  slowJobs: number;
  /** Admissions of a turn with one in flight. */
  timedAdmissions: number;
  /** Duration of a turn of admissions, at some thousands per second. */
  admissions: { rampMs: number; windowMs: number };
  /** Jobs of a database that has grown. */
  growthJobs: number;
}

export const FULL: Effort = {
  rounds: 5,
  budgetMs: 60_000,
  jobs: { rampMs: 1_000, windowMs: 4_000 },
  latencyJobs: 30,
  slowJobs: 8,
  timedAdmissions: 300,
  admissions: { rampMs: 300, windowMs: 2_500 },
  growthJobs: 1_000_000,
};

export const QUICK: Effort = {
  rounds: 2,
  budgetMs: 8_000,
  jobs: { rampMs: 700, windowMs: 1_000 },
  latencyJobs: 5,
  slowJobs: 3,
  timedAdmissions: 50,
  admissions: { rampMs: 200, windowMs: 500 },
  growthJobs: 20_000,
};
