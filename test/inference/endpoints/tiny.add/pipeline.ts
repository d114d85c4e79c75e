/** A pipeline for tests of executors and backends: adds one to the picture's width, or misbehaves as requested. */

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Model } from '../../../../src/inference/models/model.ts';
import { onlyPicture, type PipelineDefinition } from '../../../../src/inference/toolkit/pipeline.ts';

export const pipeline: PipelineDefinition = {
  tasks: ['adding-one'],
  create: (model) => {
    return async ({ pictures, parameters }) => {
      // Before anything that a cancellation would end.
      if (parameters.behaviour === 'hang') await new Promise(() => undefined);
      if (parameters.behaviour === 'run_forever') for (;;) await runOnce(model);
      const { width } = await onlyPicture(pictures);
      if (parameters.behaviour === 'spin') for (;;);
      // The test decides when it continues: see `letGo`.
      if (parameters.behaviour === 'wait') await once(process, 'SIGWINCH');
      if (parameters.behaviour === 'crash') process.kill(process.pid, 'SIGKILL');
      if (parameters.behaviour === 'throw') throw new Error('a secret of the inside');
      if (parameters.behaviour === 'escape') return { sum: 0, environment: refusals() };
      if (parameters.behaviour === 'hoard') hoard();
      if (parameters.behaviour === 'break_schema') return { sum: 'many' };
      const outputs = await model.run('tiny', { x: { data: Float32Array.of(width), shape: [1] } });
      return { sum: outputs.floats('y').data[0], environment: Object.keys(process.env) };
    };
  },
};

/** What becomes of everything that a child process has no business with. */
function refusals(): string[] {
  const attempts = [
    () => readFileSync('/etc/passwd'),
    () => readdirSync(new URL('../../../../../', import.meta.url)),
    () => readFileSync(new URL('../../../../../.data/service.json', import.meta.url)),
    () => writeFileSync(`${tmpdir()}/escaped`, ''),
    () => execFileSync('id'),
    () => new Worker('', { eval: true }),
  ];
  return attempts.map((attempt) => {
    try {
      attempt();
      return 'done';
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? '';
    }
  });
}

/** Takes memory without end, or at least all that a machine of any use has. */
function hoard(): void {
  const held: Buffer[] = [];
  while (held.length < 1_000) held.push(Buffer.alloc(64 * 1024 * 1024, 1));
}

function runOnce(model: Model) {
  return model.run('tiny', { x: { data: Float32Array.of(1), shape: [1] } });
}
