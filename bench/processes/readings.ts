/** Reads a picture with an installed model, as a child process of a worker does, or repeats the runs of its networks alone. */
import { fileURLToPath } from 'node:url';
import { restrictDecoder } from '../../src/inference/toolkit/images/decode-image.ts';
import { type RecordedRun, serveInProcess } from '../in-process.ts';

export type ReadingOrder =
  /** Opens the model and reads the picture a few times, so that code is compiled. */
  | { prepare: { endpoint: string; jpeg: Uint8Array } }
  /** Repeats one of these for the prepared picture. */
  | { time: 'reading' | 'networks' };

export interface ReadingAnswer {
  /** `<model>@<release>` */
  version: string;
  /** Of networks, for one reading. */
  runs: number;
  /** CPU time of this process for the order, all threads. */
  cpuMs: number;
}

const WARM_UPS = 4;
const MODELS = fileURLToPath(new URL('../../models', import.meta.url));

restrictDecoder();
let recorded: RecordedRun[] | null = null;
// Copies: a pipeline writes the next picture into the tensor of the last one.
const serve = await serveInProcess(MODELS, ({ network, inputs }) =>
  recorded?.push({ network, inputs: structuredClone(inputs) }),
);
let version = '';
let runs: RecordedRun[] = [];
let read = (): Promise<unknown> => Promise.reject(new Error('no picture is prepared'));

process.on('disconnect', () => process.exit(0));
process.on('message', (order: ReadingOrder) => {
  void carryOut(order).then((answer) => process.send?.(answer));
});
process.send?.('ready');

async function carryOut(order: ReadingOrder): Promise<ReadingAnswer> {
  const before = process.cpuUsage();
  if ('prepare' in order) await prepare(order.prepare);
  else if (order.time === 'reading') await read();
  else for (const { network, inputs } of runs) await network.run(inputs);
  const { user, system } = process.cpuUsage(before);
  return { version, runs: runs.length, cpuMs: (user + system) / 1000 };
}

async function prepare({ endpoint, jpeg }: { endpoint: string; jpeg: Uint8Array }): Promise<void> {
  const served = await serve(endpoint);
  version = served.version;
  read = () => served.read(jpeg);
  for (let count = 0; count < WARM_UPS; count += 1) await read();
  runs = [];
  recorded = runs;
  await read();
  // To keep the tensors of the readings that are timed would cost what a service does not.
  recorded = null;
}
