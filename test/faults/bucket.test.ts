/** The bucket breaks under the API and the workers, each a process, while customers send jobs. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bucketVariables } from '../../scripts/s3-server.ts';
import { describeWith } from '../support/needs.ts';
import { useProcesses } from '../support/processes.ts';
import { type Behaviour, type S3Proxy, startS3Proxy } from '../support/s3-proxy.ts';
import { startS3Server, type TestS3Server } from '../support/s3-server.ts';
import { PICTURE, post, postUntilAdmitted } from './customer.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { rounds } from './rounds.ts';

const BUCKET = 'vehicle-inference';

const processes = useProcesses();
let server: TestS3Server;
let proxy: S3Proxy;
let stack: FaultStack;

const restart = async (secret?: string) => {
  await server.stop();
  await server.start(secret);
};

const behaving = (behaviour: Behaviour) => async () => proxy.behave(behaviour);

const FAULTS = [
  { fault: 'away', begin: () => server.stop(), end: () => server.start(), refuses: true },
  { fault: 'slow', begin: behaving('slow'), end: behaving('usual'), refuses: false },
  { fault: 'silent', begin: behaving('silent'), end: behaving('usual'), refuses: true },
  { fault: 'full', begin: behaving('full'), end: behaving('usual'), refuses: true },
  {
    fault: 'one that refuses the credentials',
    begin: () => restart('another secret'),
    end: () => restart(),
    refuses: true,
  },
];

describeWith('versitygw', 'a bucket', () => {
  beforeAll(async () => {
    server = await startS3Server();
    server.createBucket(BUCKET);
    proxy = await startS3Proxy(server.endpoint);
    stack = await startFaultStack(processes, undefined, {
      environment: () => bucketVariables(proxy.endpoint, `${BUCKET}/files`),
    });
  }, 600_000);
  afterAll(async () => {
    await stack.close();
    await proxy.close();
    await server.close();
  });

  it.each(rounds.flatMap((round) => FAULTS.map((fault) => ({ ...fault, round }))))(
    'with a bucket that is $fault a key gets a job or a clean 503; each job ends, charged once at most (round $round)',
    async ({ begin, end, refuses }) => {
      const client = stack.client('live');
      const upload = await client.upload(new Uint8Array(PICTURE));
      await begin();
      // Its files are there already, and its worker reads them now.
      const waiting = await client.submit('dashboard.read', { input_ref: upload.id });
      const key = randomUUID();
      const answer = await post(stack, { key, mode: 'live' });
      expect(answer?.status).toBe(refuses ? 503 : 202);
      if (refuses) expect(answer?.retryAfterMs).toBeGreaterThan(0);
      expect(await client.getJob(waiting.id)).toMatchObject({ id: waiting.id });
      await end();

      const { job } = await postUntilAdmitted(stack, { key, mode: 'live' });
      await expectInvariants(stack);
      expect(await client.getJob(job.id)).toMatchObject({ status: 'succeeded', credits: { charged: 20 } });
      const { status, credits } = await client.getJob(waiting.id);
      expect([
        ['succeeded', 20],
        ['failed', 0],
      ]).toContainEqual([status, credits.charged]);
    },
    600_000,
  );
});
