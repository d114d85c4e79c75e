/** A shutdown ends within its bounds, whatever hangs. */
import { expect, it } from 'vitest';
import { useProcesses } from '../support/processes.ts';

const processes = useProcesses();

it.each([
  { hanging: 'nothing', code: 0 },
  { hanging: 'drain', code: 1 },
  { hanging: 'close', code: 1 },
])('a process ends with status $code when $hanging hangs', async ({ hanging, code }) => {
  const started = await processes.start({
    entry: 'test/platform/hanging-process.ts',
    args: [hanging],
    ready: { line: (line) => line.includes('"ready"') },
  });
  const exit = await started.stop();
  expect(exit).toEqual({ code, signal: null });
  expect(started.lines.some((line) => line.includes('not done within 200 ms'))).toBe(code === 1);
});
