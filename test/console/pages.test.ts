/**
 * Every page of the console in a real Chromium, with frozen data, clock and font: compared loosely with what it looked like, and
 * what it shows while there is nothing to show. `UPDATE_SCREENS=1 npm test -- test/console/pages.test.ts` writes the looks anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../support/browser.ts';
import { describeWith } from '../support/needs.ts';
import { type Answer, ORIGIN, serveFrozenConsole } from './frozen-console.ts';

/** A time-out means a hang. */
const PATIENCE_MS = 120_000;
const PAGES: Readonly<Record<string, string>> = {
  home: '',
  playground: '/playground',
  jobs: '/jobs',
  job: '/jobs/job_1CoTsd5kMvWzrNbUoFgrYo',
  keys: '/keys',
  webhooks: '/webhooks',
  webhook: '/webhooks/whe_1CoTsd5kMvWzrNbUoFgrYo',
  usage: '/usage',
  billing: '/billing',
  licences: '/licences',
  organisation: '/organisation',
  'audit log': '/audit-log',
};
const DEVICES = {
  'a phone in dark colours': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  'a desktop in light colours': { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
} as const;

/** Cells of a screen, and how much darker or lighter than the page a pixel of text, line or picture is. */
const [COLUMNS, ROWS, INK] = [16, 18, 32];
/** Of 15, over all cells. Equal pages differ by nothing, one without its main part by 0.27 or more. */
const TOLERANCE = 0.2;
const SCREENS = fileURLToPath(new URL('screens.json', import.meta.url));
const isUpdate = process.env.UPDATE_SCREENS === '1';
const known = JSON.parse(readFileSync(SCREENS, 'utf8')) as Record<string, string[]>;

/** How much of each cell is not background, from 0 to f: one text for each row. The root keeps thin text visible. */
async function looksOf(screenshot: Buffer): Promise<string[]> {
  const { data, info } = await sharp(screenshot).greyscale().raw().toBuffer({ resolveWithObject: true });
  const background = data[(info.height - 1) * info.width + info.width - 1] ?? 0;
  return Array.from({ length: ROWS }, (_, row) =>
    Array.from({ length: COLUMNS }, (_, column) => {
      const [left, right] = [column, column + 1].map((edge) => Math.floor((edge * info.width) / COLUMNS)) as [
        number,
        number,
      ];
      const [top, bottom] = [row, row + 1].map((edge) => Math.floor((edge * info.height) / ROWS)) as [number, number];
      let inked = 0;
      for (let y = top; y < bottom; y += 1) {
        for (let x = left; x < right; x += 1) {
          if (Math.abs((data[y * info.width + x] ?? 0) - background) > INK) inked += 1;
        }
      }
      return Math.round(15 * Math.sqrt(inked / ((right - left) * (bottom - top)))).toString(16);
    }).join(''),
  );
}

/** Mean difference of the cells, up to 15. */
function differenceOf(a: readonly string[], b: readonly string[]): number {
  const [one, other] = [a, b].map((rows) => Array.from(rows.join(''), (digit) => Number.parseInt(digit, 16)));
  if (!one || one.length !== other?.length) return 15;
  return one.reduce((sum, value, index) => sum + Math.abs(value - (other[index] ?? 0)), 0) / one.length;
}

describeWith('chromium', 'the pages', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  async function open(options: BrowserContextOptions, answers: Readonly<Record<string, Answer>> = {}): Promise<Page> {
    const context = await browser.newContext({
      locale: 'en-GB',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
      ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    await serveFrozenConsole(context, answers);
    return context.newPage();
  }

  /** Everything is read, drawn and set in its font. */
  async function visit(page: Page, path: string): Promise<void> {
    await page.goto(`${ORIGIN}/console${path}`);
    await page.locator('#main h1').waitFor();
    // Not by `waitForFunction`: the page's policy refuses to evaluate its text a second time.
    await page.locator(':is([aria-busy=true], [aria-label=Loading]):visible').first().waitFor({ state: 'detached' });
    await page.evaluate(`Promise.all([
        document.fonts.load('16px Frozen'),
        ...[...document.images].map((image) => image.decode()),
      ]).then(() => null)`);
    if (path === PAGES.usage) await page.locator('.recharts-bar-rectangle').filter({ visible: true }).nth(3).waitFor();
    if (path === PAGES.job) await page.locator('.shape').nth(3).waitFor();
    // It arrives apart from the page.
    if (path === PAGES.playground) await page.getByRole('tab', { name: 'curl' }).waitFor();
  }

  describe.each(Object.entries(DEVICES))('on %s', (device, options) => {
    const seen: Record<string, string[]> = {};
    let page: Page;
    beforeAll(async () => {
      page = await open(options);
    });
    afterAll(() => page.context().close());

    it.each(Object.entries(PAGES))('the page %s looks as it did, but for details', async (name, path) => {
      await visit(page, path);
      const looks = await looksOf(await page.screenshot());
      seen[name] = looks;
      const key = `${name} on ${device}`;
      if (isUpdate) known[key] = looks;
      else
        expect({ name, looks, difference: differenceOf(looks, known[key] ?? []) < TOLERANCE }).toMatchObject({
          difference: true,
        });
    });

    it('no page is taken for a blank one, or for one without its main part', () => {
      if (isUpdate) writeFileSync(SCREENS, `${JSON.stringify(known, null, 2)}\n`);
      const all = Object.entries(seen);
      expect(all).toHaveLength(Object.keys(PAGES).length);
      for (const [name, looks] of all) {
        // What is left of it: the header, and the navigation on a desktop.
        const navigation = options.viewport.width > 600 ? 3 : 0;
        const frame = looks.map((row, index) => (index === 0 ? row : row.slice(0, navigation).padEnd(COLUMNS, '0')));
        expect([name, differenceOf(looks, frame) > TOLERANCE]).toEqual([name, true]);
      }
    });
  });

  it('a partial job counts neither as succeeded nor as failed', async () => {
    const page = await open({ viewport: { width: 1280, height: 900 } });
    await visit(page, PAGES.usage ?? '');
    const table = page.getByRole('region', { name: 'Usage', exact: true });
    const [titles, first] = [table.getByRole('columnheader'), table.getByRole('row').nth(1).getByRole('cell')];
    expect((await titles.allTextContents()).slice(2, 6)).toEqual(['Jobs', 'Succeeded', 'Partial', 'Failed']);
    expect((await first.allTextContents()).slice(2, 6)).toEqual(['60', '51', '7', '2']);
    await visit(page, '');
    await page.getByText('7 partial, 2 failed or expired, 1,800 credits charged').waitFor();
    await page.context().close();
  });

  it('the audit log shows a change that was repeated in one row, with how often', async () => {
    const entry = {
      object: 'audit_log_entry',
      user_id: 'usr_1CoTsd5kMvWzrNbUoFgrYo',
      role: 'member',
      action: 'rotateApiKey',
      target_id: 'key_1CoTsd5kMvWzrNbUoFgrYo',
      details: { grace_seconds: 0 },
      request_id: 'req_1CoTsd5kMvWzrNbUoFgrYo',
    };
    const data = [4, 3, 2, 1].map((index) => ({ ...entry, id: `aud_${index}`, created: 1_795_257_270 + index }));
    const created = {
      ...entry,
      id: 'aud_0',
      action: 'createApiKey',
      details: { name: 'Playground' },
      created: 1_795_257_270,
    };
    const answers = { '/mgmt/v1/audit-log': { object: 'list', data: [...data, created], has_more: false } };
    const page = await open({}, answers);
    await visit(page, '/audit-log');
    const changes = page.getByRole('region', { name: 'Changes' });
    // With that of the titles.
    expect(await changes.getByRole('row').count()).toBe(3);
    await changes.getByText('4 times since 21 Nov 2026, 10:34:31').waitFor();
    await page.context().close();
  });

  it('on a phone the closed navigation is out of reach of the keyboard, and Escape closes it', async () => {
    const page = await open(DEVICES['a phone in dark colours']);
    await visit(page, '/organisation');
    const links = page.getByRole('link', { name: 'Jobs', exact: true });
    expect(await links.count()).toBe(0);
    await page.getByRole('button', { name: 'Open the navigation' }).press('Enter');
    await links.waitFor();
    await page.keyboard.press('Escape');
    await links.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Open the navigation');
    await page.context().close();
  });

  it('a link leads to the start of its page, which has a title of its own', async () => {
    const page = await open({ viewport: { width: 1280, height: 300 } });
    await visit(page, '/usage');
    expect(await page.title()).toBe('Usage – Vehicle Inference Console');
    expect(await page.evaluate('scrollTo(0, 400), scrollY')).toBe(400);
    await page.getByRole('link', { name: 'Billing' }).click();
    await page.getByRole('heading', { name: 'Billing', level: 1 }).waitFor();
    expect(await page.title()).toBe('Billing – Vehicle Inference Console');
    expect(await page.evaluate('[scrollY, document.activeElement.id]')).toEqual([0, 'main']);
    await visit(page, '/nowhere');
    expect(await page.title()).toBe('There is no such page – Vehicle Inference Console');
    await page.context().close();
  });

  it('the playground keeps what was typed when the mode changes', async () => {
    const page = await open({});
    await visit(page, '/playground');
    const results = page.getByRole('spinbutton', { name: 'max results' });
    await results.fill('3');
    const answered = page.waitForResponse(/\/mgmt\/v1\/endpoints\?livemode=true$/);
    await page.getByText('Live', { exact: true }).click();
    await answered;
    await page.getByText('Live mode runs the installed models').waitFor();
    expect(await results.inputValue()).toBe('3');
    await page.context().close();
  });

  it('a key without a scope is not made', async () => {
    const page = await open({});
    await visit(page, '/keys');
    await page.getByRole('button', { name: 'Make a key' }).click();
    const make = page.getByRole('button', { name: 'Make it' });
    await page.getByRole('checkbox', { name: '*', exact: true }).uncheck();
    expect(await make.isDisabled()).toBe(true);
    await page.context().close();
  });

  const LISTS: [string, string, string][] = [
    ['/jobs', '/mgmt/v1/jobs', 'No jobs'],
    ['/keys', '/mgmt/v1/api-keys', 'No keys'],
    ['/webhooks', '/mgmt/v1/webhook-endpoints', 'No webhook endpoints'],
    ['/usage', '/mgmt/v1/usage', 'Nothing was used in this time'],
    ['/billing', '/mgmt/v1/statements', 'No statements'],
    ['/licences', '/mgmt/v1/sdk-licenses', 'No SDKs'],
    ['/audit-log', '/mgmt/v1/audit-log', 'No changes'],
  ];

  it.each(LISTS)('the page %s says so when its list is empty', async (path, api, text) => {
    const page = await open({}, { [api]: 'empty' });
    await page.goto(`${ORIGIN}/console${path}`);
    await page.getByText(text, { exact: true }).first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().close();
  });

  it.each(LISTS)('the page %s says what was refused, and reads again on demand', async (path, api) => {
    const answers: Record<string, Answer> = { [api]: 'refused' };
    const page = await open({}, answers);
    await page.goto(`${ORIGIN}/console${path}`);
    await page.getByText('Example of a failure.').first().waitFor();
    delete answers[api];
    const failures = page.getByRole('button', { name: 'Try again' });
    await failures.first().click();
    // Usage shows two lists of the same operation.
    if (path === '/usage') await failures.first().click();
    await page.getByText('Example of a failure.').first().waitFor({ state: 'detached' });
    expect(await failures.count()).toBe(0);
    await page.context().close();
  });

  it.each(LISTS)('the page %s says that it is loading', async (path, api) => {
    const page = await open({}, { [api]: 'silent' });
    await page.goto(`${ORIGIN}/console${path}`);
    const loading = page.getByRole('status', { name: 'Loading' }).first();
    await loading.waitFor();
    expect(await loading.getAttribute('aria-busy')).toBe('true');
    await page.context().close();
  });
});
