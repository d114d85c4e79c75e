/** `npm run models:sheets` as people call it, on the project's own pictures. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../../training/draw-sheets.ts', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../../training/examples', import.meta.url));

it('a sheet shows the pictures with the outlines of what was found', async () => {
  const to = mkdtempSync(join(tmpdir(), 'sheets-'));
  const parameters = ['--pictures', EXAMPLES, '--to', to, '--only', 'dashboard.read', '--count', '2'];
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...parameters], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  const sheet = sharp(join(to, 'dashboard.read-1.jpg'));
  expect(await sheet.metadata()).toMatchObject({ format: 'jpeg', width: 1920 });
  // The first colour of the overlays, in the pictures and not in the lines below them.
  const data = await sheet.extract({ left: 0, top: 0, width: 960, height: 360 }).raw().toBuffer();
  let outlined = 0;
  for (let at = 0; at < data.length; at += 3) {
    const [red, green, blue] = [data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0];
    if (Math.abs(red - 255) < 30 && Math.abs(green - 107) < 30 && Math.abs(blue - 107) < 30) outlined += 1;
  }
  expect(outlined).toBeGreaterThan(80);
}, 600_000);

it('a picture that was made stands on the right of the one that was sent', async () => {
  const to = mkdtempSync(join(tmpdir(), 'sheets-'));
  const asked = ['--only', 'render.enhance', '--parameters', '{"operations":["sharpen"],"strength":0.1}'];
  const parameters = ['--pictures', EXAMPLES, '--to', to, '--count', '1', ...asked];
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT, ...parameters], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  const half = (left: number) =>
    sharp(join(to, 'render.enhance-1.jpg')).extract({ left, top: 0, width: 240, height: 100 }).raw().toBuffer();
  const [sent, made] = [await half(0), await half(240)];
  const apart = sent.reduce((sum, level, at) => sum + Math.abs(level - (made[at] ?? 0)), 0) / sent.length;
  expect(apart).toBeLessThan(3);
}, 600_000);
