/** The reading endpoints against their networks alone: what finding, cutting, decoding and parsing add on one core. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { drawDocument } from '../../training/document-pictures.ts';
import { drawLicense } from '../../training/license-pictures.ts';
import { drawPlate } from '../../training/plate-pictures.ts';
import { randomFrom } from '../../training/print-pictures.ts';
import type { Effort } from '../effort.ts';
import { alternate, type Comparison, compare, type Goal, type Side } from '../measure.ts';
import type { MeasureResult } from '../measure-result.ts';
import type { ReadingAnswer, ReadingOrder } from '../processes/readings.ts';
import type { BenchContext, Postgres } from '../servers.ts';

const GOAL: Goal = { atMost: 1.15 };
const SEED = 1;

interface Example {
  endpoint: string;
  /** What the picture shows. */
  what: string;
  jpeg: Buffer;
  /** Null for a row that only informs. */
  goal: Goal | null;
}

export async function measureReading(
  { signal, say, cleanup }: BenchContext,
  _postgres: Postgres,
  effort: Effort,
): Promise<MeasureResult> {
  const child = fork(new URL('../processes/readings.ts', import.meta.url), {
    serialization: 'advanced',
  });
  cleanup.add(async () => {
    child.kill('SIGKILL');
  });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the process that reads has ended')));
  const answer = () => Promise.race([once(child, 'message'), ended]);
  const carryOut = async (order: ReadingOrder) => {
    child.send(order);
    const [message] = await answer();
    return message as ReadingAnswer;
  };
  const cpuTimeOf = async (time: 'reading' | 'networks') => {
    const { cpuMs } = await carryOut({ time });
    return { value: cpuMs, jobs: 1, cpuSeconds: null };
  };
  await answer();
  const comparisons: Comparison[] = [];
  for (const { endpoint, what, jpeg, goal } of await drawExamples()) {
    say(`Reading, ${endpoint}, ${what} …`);
    const { version, runs } = await carryOut({ prepare: { endpoint, jpeg } });
    const a: Side = {
      name: 'reading',
      what: `${endpoint} of ${what}: decoding, networks of ${version} with one thread, result; in one process`,
      processes: [],
      run: () => cpuTimeOf('reading'),
    };
    const b: Side = {
      name: 'its networks',
      what: `the ${runs} runs of these networks on the same tensors and nothing else`,
      processes: [],
      run: () => cpuTimeOf('networks'),
    };
    const samples = await alternate([a, b], { ...effort, signal });
    comparisons.push(compare(samples, { name: `Reading, ${endpoint}, ${what}`, unit: 'ms p50', a, b, goal }));
  }
  const notes = [
    'Readings are timed by the CPU time of their process, all threads, which other programs change less than the time.',
  ];
  return { comparisons, broken: [], notes };
}

async function drawExamples(): Promise<Example[]> {
  const example = (name: string) => readFile(new URL(`../../training/${name}`, import.meta.url));
  const stamping = await example('print-examples/stamping.jpg');
  const pictures: Omit<Example, 'goal'>[] = [
    { endpoint: 'dashboard.read', what: 'a cluster', jpeg: await example('examples/night-kilometres.jpg') },
    { endpoint: 'plate.read', what: 'a plate', jpeg: (await drawPlate(randomFrom(SEED))).jpeg },
    { endpoint: 'vin.read', what: 'a stamping', jpeg: stamping },
    { endpoint: 'tire.read', what: 'a sidewall', jpeg: await example('print-examples/tire-sidewall.jpg') },
    {
      endpoint: 'document.read',
      what: 'a registration',
      jpeg: (await drawDocument('registration DE', randomFrom(SEED))).jpeg,
    },
    { endpoint: 'driver_license.read', what: 'a front', jpeg: (await drawLicense('front EU', randomFrom(SEED))).jpeg },
  ];
  const large = await sharp(stamping).resize(4000, 3000, { fit: 'fill' }).jpeg({ quality: 90 }).toBuffer();
  return [
    ...pictures.map((each) => ({ ...each, goal: GOAL })),
    { endpoint: 'vin.read', what: '12 megapixels', jpeg: large, goal: null },
    { endpoint: 'tire.read', what: '12 megapixels', jpeg: large, goal: null },
  ];
}
