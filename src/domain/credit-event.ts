/** The event that tells of a low balance. */
import type { CreditEventType } from '../contracts/job.ts';
import { API_VERSION } from './job-event.ts';
import { epochSeconds } from './job-resource.ts';

interface LowBalanceEvent {
  id: string;
  type: CreditEventType;
  livemode: boolean;
  /** Credits, available and held together, right after they fell below the threshold. */
  balance: number;
  threshold: number;
  createdAt: Date;
}

/** The exact text that is stored and listed. No request caused it. */
export function renderLowBalanceEvent({ id, type, livemode, balance, threshold, createdAt }: LowBalanceEvent): string {
  return JSON.stringify({
    id,
    object: 'event',
    type,
    created: epochSeconds(createdAt),
    livemode,
    is_staging: false,
    api_version: API_VERSION,
    data: { object: { object: 'credit_balance', livemode, balance, low_balance_threshold: threshold } },
    request: null,
  });
}
