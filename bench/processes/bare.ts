/** Names shared by the bare worker and its client. */
export const BARE_TASK_QUEUE = 'bare';
export const BARE_WORKFLOW = 'bareWorkflow';

export interface BareActivities {
  doNothing(): Promise<void>;
}
