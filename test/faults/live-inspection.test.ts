/** kill -9 of the inference worker in mid-inspection, with the models that the project ships. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { OF_INSPECTIONS } from '../support/models.ts';
import { PROJECT_DIRECTORY, useProcesses } from '../support/processes.ts';
import { type FaultStack, startFaultStack } from './fault-stack.ts';
import { expectInvariants } from './invariants.ts';
import { rounds } from './rounds.ts';
import type { Moment } from './statement-proxy.ts';

const IMAGES = ['example.jpg', 'example-3.jpg', 'example-5.jpg'].map(
  (name) => new Uint8Array(readFileSync(join(PROJECT_DIRECTORY, 'src/endpoints/render.360/fixtures', name))),
);
const MOMENTS: readonly Moment[] = ['before', 'after'];

const processes = useProcesses();
let stack: FaultStack;

beforeAll(async () => {
  stack = await startFaultStack(processes, OF_INSPECTIONS);
}, 600_000);
afterAll(() => stack.close());

it.each(rounds.flatMap((round) => MOMENTS.map((moment) => [moment, round] as const)))(
  'an inference worker that dies %s it keeps what a stage found (round %i): the inspection ends as without a fault, one charge',
  async (moment) => {
    const client = stack.client('live');
    const inspect = async () => {
      const { id } = await client.submit('inspections', { images: IMAGES });
      return id;
    };
    const undisturbed = await inspect();
    await expectInvariants(stack);
    const { inference } = stack.parts;
    const reached = inference.postgres.holdNext((sql) => sql.includes('insert into stage_outcomes'), moment);
    const disturbed = await inspect();
    await reached;
    await inference.kill();
    await inference.start();
    await expectInvariants(stack);
    const [expected, job] = await Promise.all([undisturbed, disturbed].map((id) => client.getJob<'inspections'>(id)));
    expect(expected?.status).toBe('succeeded');
    expect(expected?.result?.views).toHaveLength(IMAGES.length);
    expect(job).toMatchObject({ status: 'succeeded', credits: expected?.credits });
    expect(job?.result?.views).toEqual(expected?.result?.views);
    expect(job?.result?.parts).toEqual(expected?.result?.parts);
  },
  600_000,
);
