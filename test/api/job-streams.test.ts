/** The memory of one event stream is bounded, whatever its client does. */
import { expect, it } from 'vitest';
import { createJobStreams } from '../../src/api/job-streams.ts';
import type { FollowedJob } from '../../src/jobs/job-follower.ts';
import type { MikroORM } from '../../src/platform/database/orm.ts';
import { recordLog } from '../support/log-record.ts';

const jobOf = (text: string): FollowedJob => ({ status: 'processing', isEnded: false, json: JSON.stringify(text) });

it('a client that does not read is disconnected once too much is unread, and its job is no longer followed', () => {
  let listener: ((job: FollowedJob) => void) | null = null;
  const log = recordLog();
  const streams = createJobStreams({
    endpoints: [],
    // Used by the check of the keys alone, which is not due here.
    orm: {} as MikroORM,
    follower: {
      follow(_jobId, given) {
        listener = given;
        return () => {
          listener = null;
        };
      },
      close() {},
    },
    logger: log.logger,
    limits: { unreadBytes: 500_000 },
  });
  const { events } = streams.open({
    jobId: 'job_1',
    endpoint: 'dashboard.read',
    caller: { id: 'key_1', organizationId: 'org_1', livemode: false, isStaging: false, scopes: ['*'] },
    secretHash: new Uint8Array(32),
    first: jobOf('first'),
  });
  let written = 0;
  while (listener !== null && written < 100) {
    written += 1;
    (listener as (job: FollowedJob) => void)(jobOf(`${written}`.padEnd(100_000, '.')));
  }
  expect(written).toBeGreaterThan(4);
  expect(written).toBeLessThan(10);
  expect(log.lines.join()).toContain('does not read');
  events.destroy();
  streams.close();
});
