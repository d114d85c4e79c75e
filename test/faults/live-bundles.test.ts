/** kill -9 of the inference worker in the midst of a bundle, with the models that the project ships. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OF_INSPECTIONS } from '../support/models.ts';
import { PROJECT_DIRECTORY, useProcesses } from '../support/processes.ts';
import { untilAvailable } from '../support/until.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { rounds } from './rounds.ts';
import type { Moment } from './statement-proxy.ts';

const IMAGES = ['example.jpg', 'example-3.jpg', 'example-5.jpg'].map(
  (name) => new Uint8Array(readFileSync(join(PROJECT_DIRECTORY, 'src/endpoints/render.360/fixtures', name))),
);
const MOMENTS: readonly Moment[] = ['before', 'after'];
/** Fields of each bundle's result that hold no names and addresses of its job. */
const BUNDLES = [
  ['inspections', ['views', 'parts']],
  ['vehicle.analyze', ['images', 'summary']],
] as const;

const processes = useProcesses();
let stack: FaultStack;

beforeAll(async () => {
  stack = await startFaultStack(processes, OF_INSPECTIONS);
  for (const [bundle] of BUNDLES) await untilAvailable(stack.client('live'), bundle);
}, 600_000);
afterAll(() => stack.close());

it.each(
  rounds.flatMap((round) =>
    BUNDLES.flatMap(([bundle, fields]) => MOMENTS.map((moment) => [moment, bundle, round, fields] as const)),
  ),
)(
  'a bundle whose worker dies %s it keeps what a stage of %s found ends as without a fault, with one charge (round %i)',
  async (moment, bundle, _round, fields) => {
    const client = stack.client('live');
    const submit = async () => (await client.submit(bundle, { images: IMAGES })).id;
    const undisturbed = await submit();
    await expectInvariants(stack);
    const { inference } = stack.parts;
    const reached = inference.postgres.holdNext((sql) => sql.includes('insert into stage_outcomes'), moment);
    const disturbed = await submit();
    await reached;
    await inference.kill();
    await inference.start();
    await expectInvariants(stack);
    const [expected, job] = await Promise.all([undisturbed, disturbed].map((id) => client.getJob(id)));
    expect(expected?.status).toBe('succeeded');
    expect(job).toMatchObject({ status: 'succeeded', credits: expected?.credits });
    const found = (of: typeof job, field: string) =>
      (of?.result as Readonly<Record<string, unknown>> | undefined)?.[field];
    for (const field of fields) {
      expect(found(expected, field)).toBeDefined();
      expect(found(job, field)).toEqual(found(expected, field));
    }
  },
  600_000,
);
