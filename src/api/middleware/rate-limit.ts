import type { Next } from 'koa';
import type { Pool } from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { ServiceError } from '../../domain/service-error.ts';
import type { ApiContext } from '../context.ts';

const WINDOW_SECONDS = 60;

/** Test mode has a quarter of the live rate. */
const TEST_MODE_SHARE = 0.25;

/** Makes limiters of one organisation × name × mode. Windows are kept in PostgreSQL, so replicas share them. */
export function createRateLimits(pool: Pool) {
  return (name: string, livePerMinute: number) => {
    const limiters = new Map(
      [true, false].map((livemode) => [
        livemode,
        createLimiter(pool, livemode ? livePerMinute : Math.floor(livePerMinute * TEST_MODE_SHARE)),
      ]),
    );
    return async (context: ApiContext, next: Next): Promise<void> => {
      const { organizationId, livemode } = context.state.apiKey;
      const limiter = limiters.get(livemode);
      if (!limiter) throw new Error('there is a limiter for each mode');
      const key = `${organizationId}:${name}:${livemode ? 'live' : 'test'}`;
      let refused = false;
      const state = await limiter.consume(key).catch((refusal: unknown) => {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        refused = true;
        return refusal;
      });
      const resetSeconds = Math.ceil(state.msBeforeNext / 1000);
      context.set('RateLimit-Limit', String(limiter.points));
      context.set('RateLimit-Remaining', String(state.remainingPoints));
      context.set('RateLimit-Reset', String(resetSeconds));
      context.set('RateLimit-Policy', `${limiter.points};w=${WINDOW_SECONDS}`);
      if (refused) {
        throw new ServiceError(
          'rate_limit_exceeded',
          `${limiter.points} requests a minute are allowed here. Wait ${resetSeconds} s, then go on.`,
          { headers: { 'Retry-After': String(resetSeconds) } },
        );
      }
      await next();
    };
  };
}

function createLimiter(pool: Pool, points: number): RateLimiterPostgres {
  return new RateLimiterPostgres({
    storeClient: pool,
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    keyPrefix: '',
    points,
    duration: WINDOW_SECONDS,
    // A blocked caller costs no query until its window ends.
    inMemoryBlockOnConsumed: points + 1,
  });
}
