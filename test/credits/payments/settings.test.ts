import { expect, it } from 'vitest';
import { readConfig } from '../../../src/platform/config/config.ts';

const REQUIRED = {
  SERVICE_ENVIRONMENT: 'development',
  DATABASE_URL: 'postgres://user:password@host:5432/database',
  TEMPORAL_ADDRESS: 'host:7233',
};

it('payments are off by default, and a dollar buys 1,000 credits', () => {
  expect(readConfig('api', REQUIRED)).toMatchObject({ STRIPE_SECRET_KEY: '', CREDITS_PER_USD: 1_000 });
});

it.each(['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'])(
  '%s alone is refused: it would take money or tell nobody',
  (name) => {
    expect(() => readConfig('api', { ...REQUIRED, [name]: 'given' })).toThrow(
      'STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET must be set together',
    );
  },
);
