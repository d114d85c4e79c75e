/** Every fault the service must survive, what must show afterwards, and the test files that prove it. */
export interface Fault {
  fault: string;
  mustShow: string;
  /** Paths from the project's root; a file belongs to one fault or to several. */
  files: readonly string[];
  /** Pattern of the tests' full names; every test of the files when omitted. */
  named?: RegExp;
  /** Takes minutes: `npm test` and `npm run test:faults -- --short` omit it. */
  isLong?: true;
  /** The script that builds the server which it needs; it is not tried without it. */
  needs?: 'scripts/install-versitygw.ts' | 'scripts/install-temporal-server.ts';
}

export const FAULTS: readonly Fault[] = [
  {
    fault: 'kill -9 of the API before and after each statement, after the commit, after the start',
    mustShow: 'one job, one charge; a retry converges',
    files: ['test/faults/api-killed.test.ts'],
  },
  {
    fault: 'kill -9 of a worker before and during inference, before and after the settlement is committed',
    mustShow: 'the job ends, one charge',
    files: ['test/faults/workers-killed.test.ts'],
  },
  {
    fault: 'kill -9 of the inference worker in the midst of a bundle, with the shipped models',
    mustShow: 'the bundle ends as without a fault, one charge',
    files: ['test/faults/live-bundles.test.ts'],
  },
  {
    fault: 'kill -9 of the worker that runs a release in the shadow',
    mustShow: 'nothing charged, nothing shown; each comparison counts once',
    files: ['test/faults/shadow-killed.test.ts', 'test/workflows/shadow-job.test.ts'],
    named: /nothing shown|lost|stopped/,
  },
  {
    fault: 'kill -9 of the inference child',
    mustShow: 'a bounded number of tries; the worker lives',
    files: ['test/inference/runtime/child-processes.test.ts'],
  },
  {
    fault: 'Temporal killed, or out of reach',
    mustShow: '202 or a clean 503; the outbox drains; no double start',
    files: ['test/faults/temporal-away.test.ts', 'test/api/temporal-away.test.ts'],
  },
  {
    fault: "Temporal's history shards moved: kill -9 of one process of its history service after the other",
    mustShow: '202 or a clean 503; every job ends; no double start',
    files: ['test/faults/temporal-shards.test.ts'],
    needs: 'scripts/install-temporal-server.ts',
  },
  {
    fault: 'PostgreSQL killed, its sessions terminated, none of them free',
    mustShow: 'what was acknowledged is durable; the service reconnects by itself',
    files: ['test/faults/postgres-away.test.ts', 'test/api/database-failures.test.ts', 'test/jobs/durability.test.ts'],
  },
  {
    fault: '100 requests at once with one key; the key with another payload',
    mustShow: 'one job; 409',
    files: ['test/faults/contention.test.ts', 'test/jobs/admission-store.test.ts'],
    named: /key/,
  },
  {
    fault: 'credits for exactly N jobs, 10 N requests at once',
    mustShow: 'exactly N admitted',
    files: ['test/faults/contention.test.ts', 'test/jobs/admission-store.test.ts'],
    named: /credits for exactly/,
  },
  {
    fault: 'cancellation against pick-up',
    mustShow: 'exactly one wins; one hold and one settlement',
    files: ['test/faults/contention.test.ts', 'test/jobs/settlement-store.test.ts'],
    named: /cancel|wins/i,
  },
  {
    fault: 'webhook targets that are slow, endless, redirecting, rebinding, inside, resetting, badly encrypted',
    mustShow: 'no connection inside; the rest unharmed',
    files: [
      'test/webhooks/webhook-client.test.ts',
      'test/webhooks/webhook-target.test.ts',
      'test/webhooks/public-address.test.ts',
      'test/webhooks/resolve-host.test.ts',
    ],
  },
  {
    fault: '24 hours of failed deliveries; a success at 23:59',
    mustShow: 'disabled once; the counter reset',
    files: ['test/workflows/deliver-webhook.test.ts', 'test/activities/delivery-activities.test.ts'],
  },
  {
    fault: 'disk full',
    mustShow: '503, no half job, recovers unaided',
    files: ['test/api/storage-failures.test.ts'],
  },
  {
    fault: 'the bucket away, slow, silent or full, or it refuses the credentials',
    mustShow: 'a job or a clean 503 under one key; nothing lost; charged once or not at all; recovers unaided',
    files: ['test/faults/bucket.test.ts', 'test/e2e/bucket.test.ts'],
    needs: 'scripts/install-versitygw.ts',
  },
  {
    fault: 'a server of buckets that is away, refuses, is overloaded or full; writers killed; content changed',
    mustShow: 'a clear error without secrets; bounded tries; nothing half-written; changed content is not returned',
    files: ['test/platform/storage/s3-store.test.ts'],
    named: /away|refuses|responds with|killed writer|changed in the bucket/,
    needs: 'scripts/install-versitygw.ts',
  },
  {
    fault: 'pictures and bodies made to hurt: bombs, truncated, animated, rotated, too large',
    mustShow: '4xx or a failed job; bounded memory; credits released',
    files: [
      'test/inference/toolkit/images/decode-image.test.ts',
      'test/inference/toolkit/images/hostile-pictures.test.ts',
      'test/inference/toolkit/images/many-pictures.test.ts',
      'test/inference/toolkit/images/decoder-loaders.test.ts',
      'test/api/input-files.test.ts',
      'test/api/disguised-pictures.test.ts',
      'test/api/broken-bodies.test.ts',
    ],
  },
  {
    fault: 'pictures that end, occupy or exhaust the process that reads them',
    mustShow: 'a bounded number of tries; a failed job; credits released; neighbours unharmed',
    files: ['test/workflows/poison-pictures.test.ts', 'test/inference/runtime/memory-bound.test.ts'],
  },
  {
    fault: 'a deploy in mid-job, old and new workers together',
    mustShow: 'histories replay; jobs end',
    files: [
      'test/replay/run-job.test.ts',
      'test/replay/deliver-webhook.test.ts',
      'test/e2e/rolling-deploy.test.ts',
      'test/workers/drain.test.ts',
    ],
  },
  {
    fault: "the identity provider's keys away, rotated, or asked for by a flood of unknown ids",
    mustShow: 'known keys go on; one fetch in 30 seconds at most',
    files: ['test/api/management/provider-keys.test.ts'],
  },
  {
    fault: 'a rotated, expired or revoked key',
    mustShow: 'the boundary is exact',
    files: [
      'test/api/authentication.test.ts',
      'test/organizations/callers-store.test.ts',
      'test/api/management/api-keys.test.ts',
    ],
  },
  {
    fault: 'any process killed at random instants for two minutes under mixed load, PostgreSQL and its sessions too',
    mustShow: 'one job and one answer a key, one charge a job, every job ends, every event arrives',
    files: ['test/faults/random-kills.test.ts'],
    named: /kills at random instants/,
    isLong: true,
  },
  {
    fault:
      'a rolling restart of three APIs, three orchestration, four inference and two webhook workers; PgBouncer killed',
    mustShow: 'one job and one answer a key, one charge a job, every job ends, every event arrives',
    files: ['test/faults/several-of-everything.test.ts'],
    named: /each replaced in turn/,
    isLong: true,
  },
];
