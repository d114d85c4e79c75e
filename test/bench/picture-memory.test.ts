/** `bench/picture-memory.ts`, in short. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../bench/picture-memory.ts', import.meta.url));
/**
 * Growth over 200 pictures, once each endpoint has seen each size. Pixels and tensors that JavaScript keeps are external memory;
 * what is kept below it shows in RSS only, which allocators also raise by the order of what they free: networks for vehicles, whose
 * input tensor alone has 3 MB, would add 600 MB.
 */
const MOST_GROWTH_MB = { heapMb: 24, externalMb: 64 };
const SUBJECTS = [
  { subject: 'readers', rssMb: 96 },
  { subject: 'vehicles', rssMb: 250 },
];

test.each(SUBJECTS)(
  '$subject keep no memory of pictures',
  ({ subject, rssMb }) => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--expose-gc', SCRIPT, '--of', subject, '--pictures', '400', '--every', '200'],
      { encoding: 'utf8' },
    );
    expect([status, stderr]).toEqual([0, '']);
    const memory = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { pictures: number; rssMb: number; heapMb: number; externalMb: number });
    expect(memory.map(({ pictures }) => pictures)).toEqual([200, 400]);
    const [early, late] = memory;
    for (const [kind, mostGrowth] of Object.entries({ ...MOST_GROWTH_MB, rssMb })) {
      const growth = Number(late?.[kind as keyof typeof late]) - Number(early?.[kind as keyof typeof early]);
      expect([kind, growth < mostGrowth ? 'flat' : growth]).toEqual([kind, 'flat']);
    }
  },
  600_000,
);
