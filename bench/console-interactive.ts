/**
 * How long the console takes until a page can be used, in Chromium beside a running `npm start`: from the request of the page to
 * the first control of its main part, with the sign-in that the identity provider grants without a question. Run it with
 * `node bench/console-interactive.ts`; `DATA_DIRECTORY` is that of the service. It gates nothing.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../scripts/install-chromium.ts';
import type { ServiceDescription } from '../src/embedded/service-description.ts';
import { PROJECT_DIRECTORY } from '../src/embedded/service-processes.ts';

const ROUNDS = 9;
/** Pages with what can be used once they are there. */
const PAGES = { '': 'All failed jobs', '/jobs': 'dashboard.read', '/playground': 'Use an example' } as const;

const directory = process.env.DATA_DIRECTORY ?? join(PROJECT_DIRECTORY, '.data');
const { consoleUrl, identity } = JSON.parse(
  readFileSync(join(directory, 'service.json'), 'utf8'),
) as ServiceDescription;
const executablePath = findChromium();
if (executablePath === null) throw new Error('no Chromium: run node scripts/install-chromium.ts');

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const cookies = await signIn(browser);
  for (const [path, control] of Object.entries(PAGES)) {
    const first: number[] = [];
    const again: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      // Without anything in its cache.
      const context = await browser.newContext({ storageState: cookies });
      const page = await context.newPage();
      first.push(await timeUntilUsable(page, path, control));
      again.push(await timeUntilUsable(page, path, control));
      await context.close();
    }
    console.log(`/console${path}: ${told(first)} at first, ${told(again)} with the scripts in the cache`);
  }
} finally {
  await browser.close();
}

async function signIn(browser: Browser) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(consoleUrl);
  await page.getByLabel('Password').fill(identity.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  return context.storageState();
}

/** In milliseconds. */
async function timeUntilUsable(page: Page, path: string, control: string): Promise<number> {
  const startedAt = performance.now();
  await page.goto(consoleUrl + path, { waitUntil: 'commit' });
  await page.locator('#main').locator('a, button').filter({ hasText: control }).first().waitFor();
  return performance.now() - startedAt;
}

/** The median, and from the least to the most. */
function told(times: readonly number[]): string {
  const sorted = times.map(Math.round).toSorted((a, b) => a - b);
  return `${sorted[Math.floor(sorted.length / 2)]} ms (${sorted[0]} to ${sorted.at(-1)})`;
}
