import { globSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useProcesses } from '../support/processes.ts';
import { anyTemporal } from './service-client.ts';

const processes = useProcesses();

it('npm run demo goes through the main job from nothing, says so, and leaves nothing but what it made', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'demo-'));
  const demo = await processes.start({
    entry: 'src/embedded/demo.ts',
    environment: { ...(await anyTemporal()), DATA_DIRECTORY: join(temporary, 'nothing-runs-here'), TMPDIR: temporary },
  });
  const { code } = await demo.exited;
  const said = demo.lines.join('\n');
  expect(said).toContain('Everything happened as promised.');
  expect(said.match(/Service-Signature verified/g)).toHaveLength(4);
  expect(said.match(/queued → processing → succeeded/g)).toHaveLength(5);
  expect(said).toMatch(/views: {5}12 of 12 usable/);
  expect(said).toMatch(/by invented prices: \d+/);
  expect(said).toMatch(/report: {4}http\S+\.pdf/);
  expect(code).toBe(0);
  expect(readdirSync(temporary)).toEqual(['nothing-runs-here']);
  const made = globSync('nothing-runs-here/**/*.*', { cwd: temporary }).map((path) =>
    path.replace('nothing-runs-here/demo/', ''),
  );
  const spin = Array.from({ length: 8 }, (_, index) => `spin-${index}.jpg`);
  expect(made.toSorted()).toEqual(['background.jpg', 'film-poster.jpg', 'film.mp4', 'plate.jpg', ...spin]);
  expect(said).toContain(`look: ${join(temporary, 'nothing-runs-here', 'demo')}`);
});
