/**
 * The documentation in a real Chromium against the service in test mode: the quickstart by its copy buttons, search, the pages of
 * all endpoints, desktop and phone, light and dark, with and without a script. No page may complain.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { findPlaces } from '../../src/api/pages/find-shapes.ts';
import { GUIDES } from '../../src/api/pages/page.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { exampleResult } from '../../src/endpoints/shared/examples.ts';
import { startTestMode } from '../contract/service.ts';
import type { TestApi } from '../support/api.ts';
import { launchChromium, recordComplaints } from '../support/browser.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { describeWith } from '../support/needs.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { until } from '../support/until.ts';

/** A time-out means a hang. */
const PATIENCE_MS = 120_000;
const AXE = readFileSync(join(PROJECT_DIRECTORY, 'node_modules/axe-core/axe.min.js'), 'utf8');
const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const PAGES = [
  '/docs',
  ...Object.keys(GUIDES).map((name) => `/docs/${name}`),
  ...endpoints.map(({ slug }) => `/docs/endpoints/${slug}`),
  '/docs/reference',
  '/docs/reference/createApiKey',
  '/docs/reference/objects/Job',
  '/docs/models',
  '/docs/models/print-reader@2026-11-22',
  '/docs/errors',
  '/docs/errors/parameter_invalid',
  '/docs/changelog',
  '/docs/search?q=webhook',
];

let api: TestApi;
let customer: Customer;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** What the pages did wrong: `recordComplaints`. */
let complaints: string[];

describeWith('chromium', 'the documentation', () => {
  beforeAll(async () => {
    api = await startTestMode({ hasOwnLinks: true });
    customer = await createCustomer(api.orm);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await api.close();
  });

  beforeEach(() => open());
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  /** A new visitor. */
  async function open(options: BrowserContextOptions = {}): Promise<void> {
    complaints = [];
    context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    page = await context.newPage();
    await recordComplaints(page, complaints);
  }

  async function reopen(options: BrowserContextOptions): Promise<void> {
    await context.close();
    await open(options);
  }

  const visit = (path: string) => page.goto(api.url + path);

  async function accessibilityFaults(): Promise<string[]> {
    // Through the protocol of the tests, to which the page's policy does not apply.
    await page.evaluate(AXE);
    return page.evaluate<string[]>(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)].join(" ")))',
    );
  }

  it('the documentation walks a newcomer through the quickstart by its copy buttons', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await visit('/docs');
    await page.getByRole('main').getByRole('link', { name: 'Quickstart' }).click();
    await page.getByRole('heading', { name: 'Step 1: get a test key' }).waitFor();

    const form = page.getByRole('form', { name: 'Run the example' });
    await form.getByLabel('Test key').fill(customer.keys.test);
    await form.getByRole('button', { name: 'Run it here' }).click();
    await form.getByText(/^succeeded: job_\w+, 20 test credits\.$/).waitFor();
    const answer = JSON.parse((await page.getByLabel('Response').textContent()) ?? '') as Record<string, unknown>;
    expect(answer).toMatchObject({ object: 'job', result: { odometer: { value: expect.any(Number) } } });

    const copied: string[] = [];
    for (const button of await page.getByRole('button', { name: 'Copy' }).all()) {
      if (!(await button.isVisible())) continue;
      await button.click();
      copied.push(await page.evaluate<string>('navigator.clipboard.readText()'));
    }
    expect(copied).toHaveLength(3);
    const script = copied.join('\n').replace('chk_test_…', customer.keys.test);
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script]);
    expect(stdout).toMatch(
      /^dashboard\.jpg\n\{.*"odometer":\{"value":\d+,"unit":"km".*\}\{.*"charged":0.*"code":"model_inference_failed".*\}$/,
    );
    // A mistake is seen, not swallowed.
    const mistaken = script.replaceAll(customer.keys.test, 'chk_test_wrong');
    const refused = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', mistaken]);
    expect(refused.stdout).toMatch(/^dashboard\.jpg\n\{"error":.*"code":"invalid_api_key"/);
    // The key is nowhere but in the field.
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(kept).toBe('[{},{},""]');
  });

  it('the documentation says what is wrong with a key, with the page of the error', async () => {
    await visit('/docs/endpoints/dashboard.read');
    const form = page.getByRole('form', { name: 'Run the example' });
    await form.getByLabel('Test key').fill('chk_test_wrong');
    await form.getByRole('button', { name: 'Run it here' }).click();
    await form.getByRole('link', { name: 'invalid_api_key' }).click();
    await page.getByRole('heading', { name: 'invalid_api_key', level: 1 }).waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('401')]);
  });

  it('the documentation shows three languages side by side, and remembers the choice on other pages', async () => {
    await visit('/docs/endpoints/vin.read');
    const call = page.getByRole('tabpanel');
    await page.getByRole('tab', { name: 'curl' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await call.getByText('client.run(VinRead(image="example.jpg"').waitFor();
    await visit('/docs/idempotency');
    await page.getByRole('tabpanel').getByText('idempotency_key=key').first().waitFor();
    expect(await page.getByRole('tab', { name: 'Python' }).first().getAttribute('aria-selected')).toBe('true');
    expect(await page.getByText('curl -sS').first().isVisible()).toBe(false);
  });

  it('the search of the documentation finds while somebody types, by keyboard alone', async () => {
    await visit('/docs');
    await page.keyboard.press('/');
    await page.keyboard.type('signature webhook');
    const results = page.getByRole('region', { name: 'Results' });
    await results.getByRole('link', { name: 'Webhooks: Signature', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await results.waitFor({ state: 'hidden' });
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Search: signature webhook' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Webhooks: Signature', exact: true }).click();
    await page.getByRole('heading', { name: 'Signature', exact: true }).waitFor();
    expect(page.url()).toBe(`${api.url}/docs/webhooks#signature`);
  });

  it('the documentation shows the pictures of each endpoint with what was found drawn onto them', async () => {
    for (const { slug } of endpoints) {
      await visit(`/docs/endpoints/${slug}`);
      const pictures = page.locator('figure :is(img, video)');
      await pictures.first().scrollIntoViewIfNeeded();
      // Not by `waitForFunction`: the page's policy refuses to evaluate its text a second time.
      await until(() =>
        page.evaluate<boolean>(
          `(([shown]) => shown.naturalWidth > 0 || shown.readyState > 0)(document.querySelectorAll('figure :is(img, video)'))`,
        ),
      );
      const { shapes } = findPlaces(exampleResult(slug));
      const drawn = page.locator('figure svg .shape');
      expect([slug, await drawn.count()]).toEqual([slug, shapes.length]);
      if (shapes.length === 0) continue;
      // Inside of the picture, at any size of the window.
      const [frame, shape] = [await page.locator('.overlay').first().boundingBox(), await drawn.first().boundingBox()];
      expect(frame).not.toBeNull();
      expect(shape).not.toBeNull();
      if (!frame || !shape) continue;
      expect(shape.x).toBeGreaterThan(frame.x - 3);
      expect(shape.x + shape.width).toBeLessThan(frame.x + frame.width + 3);
    }
  });

  it.each([
    ['a desktop, light', { viewport: DESKTOP, colorScheme: 'light' }],
    ['a phone, dark', { viewport: PHONE, colorScheme: 'dark' }],
  ] as const)('the documentation is accessible on %s', async (_, options) => {
    await reopen(options);
    const faults: string[] = [];
    for (const path of [
      '/docs',
      '/docs/quickstart',
      '/docs/webhooks',
      '/docs/endpoints/vehicle.segment',
      '/docs/endpoints/pricing.vehicle',
      '/docs/reference',
      '/docs/reference/createApiKey',
      '/docs/models',
      '/docs/models/print-reader@2026-11-22',
      '/docs/errors/parameter_invalid',
      '/docs/search?q=webhook',
    ]) {
      await visit(path);
      faults.push(...(await accessibilityFaults()).map((fault) => `${path}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  it('the documentation never scrolls sideways on a phone', async () => {
    await reopen({ viewport: PHONE });
    const wide: string[] = [];
    for (const path of PAGES) {
      await visit(path);
      const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      if (excess > 0) wide.push(`${path}: ${excess} px`);
    }
    expect(wide).toEqual([]);
  });

  it('the documentation shows what was found within the screen of a phone, over the page', async () => {
    await reopen({ viewport: PHONE });
    await visit('/docs/quickstart');
    await page.getByRole('searchbox').fill('webhook');
    const found = page.getByRole('region', { name: 'Results' });
    await found.getByRole('link', { name: 'Webhooks', exact: true }).waitFor();
    const { x = -1, width = PHONE.width } = (await found.boundingBox()) ?? {};
    expect([x >= 0, x + width <= PHONE.width]).toEqual([true, true]);
    await found.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
  });

  it('the documentation opens its menu over the page on a phone, and closes it again', async () => {
    await reopen({ viewport: PHONE });
    await visit('/docs/credits');
    const navigation = page.getByRole('navigation', { name: 'Documentation' });
    expect(await navigation.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await navigation.getByRole('link', { name: 'Overview' }).waitFor();
    const box = await navigation.boundingBox();
    expect([box?.x, box?.y, box?.height, await page.evaluate('scrollY')]).toEqual([0, 0, PHONE.height, 0]);
    expect(await accessibilityFaults()).toEqual([]);
    await page.keyboard.press('Escape');
    await navigation.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Menu' }).click();
    await navigation.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    expect(await navigation.isVisible()).toBe(false);
  });

  it('the documentation is complete without a script', async () => {
    await reopen({ javaScriptEnabled: false });
    await visit('/docs/quickstart');
    for (const text of [
      'curl -sS "$BASE_URL/v1/dashboard/read?wait=true"',
      "client.run('dashboard.read', { image })",
      'client.run(DashboardRead(image="dashboard.jpg"))',
    ]) {
      expect([text, await page.getByText(text).first().isVisible()]).toEqual([text, true]);
    }
    await page.getByRole('searchbox').fill('odometer');
    await page.keyboard.press('Enter');
    await page
      .getByRole('main')
      .getByRole('link', { name: 'dashboard.read: Dashboard and mileage reader: Result' })
      .click();
    await page.getByRole('heading', { name: 'Result', exact: true }).waitFor();
  });
});
