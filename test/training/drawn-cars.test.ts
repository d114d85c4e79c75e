/**
 * The commands of training/README.md on drawn cars: a short training, its export, and the service with what came of it. It proves
 * that they work together, and nothing about photographs.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TRAINING_PYTHON } from '../../scripts/install-training.ts';
import { describeWith } from '../support/needs.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

const STEPS = 64;
const PICTURES_OF_A_STEP = 8;
const SCHEDULE = `--steps ${STEPS} --rate 4e-3`;

const work = mkdtempSync(join(tmpdir(), 'training-'));

function run(program: string, command: string): string {
  const { status, stdout, stderr } = spawnSync(program, command.split(' '), {
    cwd: PROJECT_DIRECTORY,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${command} ended with ${status}:\n${stderr}`);
  return stdout;
}
const python = (command: string) => run(TRAINING_PYTHON, `-m training.${command}`);
const trainParts = () =>
  python(`train_parts --data ${work}/parts.npz --extra ${work}/empty.npz --out ${work} ${SCHEDULE}`);
const numberIn = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);

describeWith('training', 'a training on drawn cars', () => {
  let printed: string;

  beforeAll(() => {
    python(`drawn_cars --out ${work}`);
    python(`parts_data --pictures ${work}/parts --out ${work}/parts.npz`);
    python(`empty_pictures --data ${work}/parts.npz --out ${work}/empty.npz --drawings 6 --interiors 0`);
    printed = trainParts();
    cpSync(join(PROJECT_DIRECTORY, 'models/print-reader'), join(work, 'models/print-reader'), { recursive: true });
  }, 1_800_000);
  afterAll(() => rmSync(work, { recursive: true }));

  it('a network of parts learns them, is exported with its heads, and the service finds parts with it', () => {
    python(
      `train_heads --checkpoint ${work}/parts.pt --pictures ${work}/parts/images --labels ${work}/views.json --out ${work}`,
    );
    python(`export_parts --checkpoint ${work}/parts.pt --heads ${work}/heads.pt --models ${work}/models`);
    const table = run(process.execPath, `training/evaluate-parts.ts --pictures ${work}/check --models ${work}/models`);
    expect(numberIn(table, /all parts against the rest, IoU\s+([\d.]+)/)).toBeGreaterThan(0.25);
  }, 1_800_000);

  it('a training that is started again goes on from its last checkpoint', () => {
    const checkpoint = readFileSync(`${work}/parts.pt`);
    expect(trainParts()).toBe(printed.slice(printed.lastIndexOf(`${STEPS * PICTURES_OF_A_STEP} pictures`)));
    expect(readFileSync(`${work}/parts.pt`).equals(checkpoint)).toBe(true);
  }, 1_800_000);

  it('a network of damage learns it and is exported', () => {
    python(
      `damage_data --damage ${work}/damage --cars ${work}/parts --out ${work}/damage.npz --split ${work}/split.json --drawings 6`,
    );
    const losses = python(`train_damage --data ${work}/damage.npz --out ${work} ${SCHEDULE}`);
    expect(numberIn(losses, /IoU ([\d.]+) on the pictures that tune/)).toBeGreaterThan(0.1);
    expect(python(`export_damage --checkpoint ${work}/damage.pt --models ${work}/models`)).toContain('half floats');
  }, 1_800_000);
});
