/** Which release serves an endpoint by an operator's choice, and which one is tried beside it. */

/** A release that gets a share of an endpoint's live jobs. */
export interface Trial {
  /** `<model>@<release date>` */
  modelVersion: string;
  /** `shadow`: runs jobs again that the serving release has ended, unseen. `canary`: answers them. */
  mode: 'shadow' | 'canary';
  /** Whole percent of the jobs that pin no release. */
  sharePercent: number;
}

export interface ReleaseChoice {
  /** Serves jobs that pin no release. */
  serving: string;
  trial: Trial | null;
}
