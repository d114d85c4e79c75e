/** The event `credits.low_balance`. */
import { API_VERSION } from '../contracts/api-version.ts';
import type { CreditEventType } from '../contracts/job.ts';
import { epochSeconds } from '../platform/epoch-seconds.ts';

interface LowBalanceEvent {
  id: string;
  type: CreditEventType;
  livemode: boolean;
  /** Credits, available and held together, right after falling below the threshold. */
  balance: number;
  threshold: number;
  createdAt: Date;
}

/** Returns the exact text that is stored and listed. */
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
