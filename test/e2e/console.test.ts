/**
 * The console in a real Chromium against the whole service: sign-in, playground, keys, webhooks, usage, an expired session, an
 * absent service. Each page is checked by axe, none may complain, and nothing is kept in the browser's storage.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { newId } from '../../src/platform/ids.ts';
import { launchChromium, recordComplaints } from '../support/browser.ts';
import { createCustomer } from '../support/customers.ts';
import { describeWith } from '../support/needs.ts';
import { PROJECT_DIRECTORY, useProcesses } from '../support/processes.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { OWN_TEMPORAL, type RunningService, startWholeService } from './service-client.ts';

/** A time-out means a hang. */
const PATIENCE_MS = 120_000;
const AXE = readFileSync(join(PROJECT_DIRECTORY, 'node_modules/axe-core/axe.min.js'), 'utf8');
const PICTURE = join(PROJECT_DIRECTORY, 'training/examples/day-miles-seven-segment.jpg');

const PATHS = ['', '/jobs', '/keys', '/webhooks', '/usage', '/billing', '/licences', '/organisation', '/audit-log'];

/** Names of the tables that scroll sideways. */
const WIDER_TABLES = `[...document.querySelectorAll('.table')]
  .filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => one.getAttribute('aria-label'))`;

const processes = useProcesses();
let service: RunningService;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** What the pages did wrong: `recordComplaints`. */
let complaints: string[];

describeWith('chromium', 'the console', () => {
  beforeAll(async () => {
    service = await startWholeService(processes, mkdtempSync(join(tmpdir(), 'console-')), OWN_TEMPORAL);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await service.process.stop();
  });

  beforeEach(async () => {
    complaints = [];
    // Without motion: axe would judge the colours of a dialogue that is still fading in.
    // In one language: pages write numbers as the browser's reader does.
    context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      reducedMotion: 'reduce',
      locale: 'en-GB',
    });
    context.setDefaultTimeout(PATIENCE_MS);
    page = await open();
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  async function open(): Promise<Page> {
    const opened = await context.newPage();
    await recordComplaints(opened, complaints);
    return opened;
  }

  async function fillSignIn(form: Page, { role = 'owner', password = service.description.identity.password } = {}) {
    await form.getByLabel('Role').selectOption(role);
    await form.getByLabel('Password').fill(password);
    await form.getByRole('button', { name: 'Sign in' }).click();
  }

  async function signIn({ role = 'owner', path = '' } = {}): Promise<void> {
    await page.goto(service.description.consoleUrl + path);
    await fillSignIn(page, { role });
    // Who is signed in is told with the pages that the role has: before that the navigation is empty.
    await page.getByRole('button', { name: role.replace('_', ' '), exact: true }).waitFor();
  }

  const heading = (name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();

  async function expectAccessible(): Promise<void> {
    // Through the protocol of the tests, to which the page's policy does not apply.
    await page.evaluate(AXE);
    const found = await page.evaluate<string[]>(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)].join(" ")))',
    );
    expect(found).toEqual([]);
  }

  /** A page that is higher than what it shows scrolls into nothing. */
  async function expectToEndWithItsContent(): Promise<void> {
    const { height, end } = await page.evaluate<{ height: number; end: number }>(
      '({ height: document.documentElement.scrollHeight, end: document.querySelector("main").getBoundingClientRect().bottom + scrollY })',
    );
    expect(height).toBeLessThanOrEqual(Math.ceil(end));
  }

  async function storedText(): Promise<string> {
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    return kept + JSON.stringify(await page.evaluate('indexedDB.databases()'));
  }

  it('the console signs in with the printed password, keeps no token, and signs in silently after a reload', async () => {
    expect(service.process.lines.join('\n')).toContain(service.description.consoleUrl);
    expect(service.process.lines.join('\n')).toContain(service.description.identity.password);
    await page.goto(`${service.description.consoleUrl}/jobs?status=failed`);
    await fillSignIn(page, { role: 'admin', password: 'guessed' });
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Role').inputValue()).toBe('admin');
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    await fillSignIn(page);
    await heading('Jobs');
    // Back at the page that was asked for, and no code in the address.
    expect(page.url()).toBe(`${service.description.consoleUrl}/jobs?status=failed`);
    expect(await storedText()).toBe('[{},{},""][]');

    await page.reload();
    await heading('Jobs');
    await page.getByRole('button', { name: 'owner' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('You are signed out.').waitFor();
    await expectAccessible();
  });

  it('the console is served with a strict policy, and offers each role what it may see', async () => {
    const answer = await fetch(service.description.consoleUrl);
    const policy = answer.headers.get('Content-Security-Policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-[\w+/=]{20,}'; /);
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
    await signIn({ role: 'billing_manager' });
    const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
    await links.nth(4).waitFor();
    const offered = await links.allTextContents();
    expect(offered).toEqual(['Home', 'Usage', 'Billing', 'SDK licences', 'Organisation']);
    await page.goto(`${service.description.consoleUrl}/keys`);
    await page.getByText('There is no such page').waitFor();
  });

  it('the playground runs a picture in test mode, with price, overlay, JSON and the same call as programs', async () => {
    await signIn({ path: '/playground' });
    await heading('Playground');
    await page.getByRole('button', { name: 'Use an example' }).click();
    await page.getByRole('button', { name: 'Ask the price' }).click();
    await page.getByText(/^Holds 20 credits of [\d,]+ credits$/).waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('succeeded', { exact: true }).waitFor();
    const shapes = result.getByTestId('overlay').locator('.shape');
    await shapes.first().waitFor();
    expect(await shapes.count()).toBeGreaterThan(1);
    // Where the fixture says that the odometer is, in pixels of the picture.
    const fixture = JSON.parse(
      readFileSync(join(PROJECT_DIRECTORY, 'src/endpoints/dashboard.read/fixtures/default.json'), 'utf8'),
    ) as { odometer: { bbox: { x: number; y: number } } };
    const { x, y } = fixture.odometer.bbox;
    const outlines = await shapes.evaluateAll((all) => all.map((shape) => String(shape.getAttribute('points'))));
    expect(outlines.filter((outline) => outline.startsWith(`${x},${y} `))).toHaveLength(1);
    await expectAccessible();

    await result.getByRole('tab', { name: 'JSON' }).click();
    const json = JSON.parse((await result.getByLabel('The job as JSON').textContent()) ?? '') as Record<
      string,
      unknown
    >;
    expect(json).toMatchObject({ object: 'job', endpoint: 'dashboard.read', livemode: false, status: 'succeeded' });
    const programs = page.getByRole('region', { name: 'The same call as a program' });
    expect(await programs.getByLabel('The call with curl').textContent()).toContain("-F 'image=@dashboard-read.jpg'");
    await programs.getByRole('tab', { name: 'Python' }).click();
    expect(await programs.getByLabel('The call with Python').textContent()).toContain(
      'DashboardRead(image="dashboard-read.jpg")',
    );
    const download = page.waitForEvent('download');
    await programs.getByRole('link', { name: 'dashboard-read.jpg' }).click();
    expect((await download).suggestedFilename()).toBe('dashboard-read.jpg');
    expect(await programs.getByRole('link', { name: 'clients' }).getAttribute('href')).toBe('/docs/client');

    await result.getByRole('link', { name: String(json.id) }).click();
    await heading('dashboard.read');
    await page.getByTestId('overlay').locator('.shape').first().waitFor();
    const { temporalWebUrl, temporalNamespace } = service.description;
    expect(await page.getByRole('link', { name: 'Temporal Web' }).getAttribute('href')).toBe(
      `${temporalWebUrl}/namespaces/${temporalNamespace}/workflows/${String(json.id)}`,
    );
    await page.getByRole('tab', { name: 'Events and deliveries' }).click();
    await page.getByRole('heading', { name: 'job.succeeded' }).waitFor();
    await expectAccessible();
  });

  it('a job links to Temporal Web for roles that may read jobs, and for nobody where there is no Temporal Web', async () => {
    const { apiUrl, keys, temporalWebUrl, temporalNamespace, consoleUrl } = service.description;
    const body = new FormData();
    body.set('image', new Blob([readFileSync(PICTURE)], { type: 'image/jpeg' }), 'picture.jpg');
    const headers = { Authorization: `Bearer ${keys.test}` };
    const answer = await fetch(`${apiUrl}/v1/dashboard/read`, { method: 'POST', headers, body });
    const { id } = (await answer.json()) as { id: string };
    const link = page.getByRole('link', { name: 'Temporal Web' });
    await signIn({ role: 'billing_manager', path: `/jobs/${id}` });
    await page.getByText('That did not work').waitFor();
    expect(await link.count()).toBe(0);
    expect(complaints.splice(0).filter((line) => !line.includes('403'))).toEqual([]);

    await context.clearCookies();
    await signIn({ role: 'member', path: `/jobs/${id}` });
    await heading('dashboard.read');
    expect(await link.getAttribute('href')).toBe(`${temporalWebUrl}/namespaces/${temporalNamespace}/workflows/${id}`);
    // The settings that an API without CONSOLE_TEMPORAL_URL writes into the page, before its script reads them.
    await page.addInitScript(`new MutationObserver(() => {
        const settings = document.querySelector('meta[name="console-settings"]');
        if (settings) settings.content = JSON.stringify({ ...JSON.parse(settings.content), temporalUrl: null });
      }).observe(document, { childList: true, subtree: true })`);
    await page.goto(`${consoleUrl}/jobs/${id}`);
    await heading('dashboard.read');
    await page.getByRole('tab', { name: 'Pictures' }).waitFor();
    expect(await link.count()).toBe(0);
  });

  it.each([
    ['damage.detect', 'polygon'],
    ['plate.read', 'quad'],
    ['tire.detect', 'box'],
    ['parts.segment', 'mask'],
  ])('the playground draws what %s finds as a %s', async (slug, kind) => {
    await signIn({ path: '/playground' });
    await chooseEndpoint(slug);
    await page.getByRole('button', { name: /^Use (?:an example|examples)$/ }).click();
    if (kind === 'mask') {
      await page.getByLabel('include mask').first().click();
      await page.getByRole('option', { name: 'true' }).click();
    }
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const drawn = page.getByTestId('overlay').locator(`[data-kind=${kind}]`);
    await drawn.first().waitFor();
    expect(await drawn.count()).toBeGreaterThan(0);
  });

  it('the playground draws onto the frames of a film what was found in them', async () => {
    await signIn({ path: '/playground?endpoint=video.onboard' });
    await page.getByRole('button', { name: 'Use an example' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: /^key frame, front \(\d+ %\)$/ }).waitFor();
    await page.getByRole('link', { name: 'Key frame, rear left: image' }).waitFor();
    await expectAccessible();
  });

  it('the playground sends the front of a licence first, which its result is about', async () => {
    await signIn({ path: '/playground?endpoint=driver_license.read' });
    await page.getByRole('button', { name: 'Use examples' }).click();
    const names = page.locator('.drop ~ * img');
    await names.nth(1).waitFor();
    expect(await names.evaluateAll((all) => all.map((one) => one.getAttribute('alt')))).toEqual([
      'driver_license-read.jpg',
      'driver_license-read-back.jpg',
    ]);
  });

  it('the playground shows a price only for what was asked, and offers the jobs that a parameter may name', async () => {
    await signIn({ path: '/playground' });
    await chooseEndpoint('render.360');
    expect(new URL(page.url()).search).toBe('?endpoint=render.360');
    await page.getByRole('button', { name: 'Use examples' }).click();
    await page.getByRole('button', { name: 'Ask the price' }).click();
    const price = page.getByText(/^Holds [\d,]+ credits of/);
    await price.waitFor();
    await page.getByRole('button', { name: 'Remove render-360-8.jpg' }).click();
    await price.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Use examples' }).click();
    await page.getByRole('button', { name: 'Remove render-360-8.jpg' }).waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('succeeded', { exact: true }).waitFor();
    await chooseEndpoint('viewer.hotspots');
    await page.getByRole('combobox', { name: /^job id/ }).click();
    await page
      .getByRole('option', { name: /^render\.360, .*, job_\w+$/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('succeeded', { exact: true }).waitFor();
  });

  it('the playground keeps the picture for an endpoint that takes it, and says in words what was found', async () => {
    await signIn({ path: '/playground' });
    await page.locator('input[type=file]').first().setInputFiles(PICTURE);
    await chooseEndpoint('vehicle.identify');
    await page.getByAltText('day-miles-seven-segment.jpg').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const facts = page.getByRole('region', { name: 'What the result says' });
    await facts.getByText('Talvera Lumo II; year from 2021').waitFor();
    await facts.getByText('Green; finish solid').waitFor();
    await page.getByText('Test mode answers about its example').waitFor();
    await page.getByRole('button', { name: 'sighting, rear (98 %)' }).waitFor();
    await expectAccessible();
    // A video endpoint does not take it.
    await chooseEndpoint('video.onboard');
    await page.getByText('Drop a file here').waitFor();
    await page.getByAltText('day-miles-seven-segment.jpg').waitFor({ state: 'detached' });
  });

  it('the playground has one key however often it is loaded, and goes on where another page has rotated it', async () => {
    const token = await tokenOf('member');
    const keysNamedPlayground = async () => {
      const url = `${service.description.apiUrl}/mgmt/v1/api-keys?revoked=false&livemode=false&limit=100`;
      const answer = await fetch(url, { headers: { Authorization: `Bearer ${token}` } });
      const { data } = (await answer.json()) as { data: { id: string; name: string; created_by: string }[] };
      return data.filter(({ name, created_by: user }) => name === 'Playground' && user === subjectOf(token));
    };
    const askThePrice = async (of: Page) => {
      await of.getByRole('button', { name: 'Use an example' }).click();
      await of.getByRole('button', { name: 'Ask the price' }).click();
      await of.getByText(/^Holds 20 credits/).waitFor();
    };
    await signIn({ role: 'member', path: '/playground' });
    await askThePrice(page);
    const [first, ...others] = await keysNamedPlayground();
    expect(others).toEqual([]);
    const second = await open();
    await second.goto(`${service.description.consoleUrl}/playground`);
    await askThePrice(second);
    expect(await storedText()).toBe('[{},{},""][]');
    expect(await keysNamedPlayground()).toMatchObject([{ id: first?.id }]);
    // The first page's secret has ended with the rotation.
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByTestId('overlay').locator('.shape').first().waitFor();
    expect(await keysNamedPlayground()).toMatchObject([{ id: first?.id }]);
    expect(complaints.splice(0).filter((line) => !line.includes('401'))).toEqual([]);
  });

  it('the playground waits while the service is unreachable during a run, says so, and runs the job once', async () => {
    await signIn({ path: '/playground' });
    await page.getByRole('button', { name: 'Use an example' }).click();
    const sent: (string | undefined)[] = [];
    // Before the run has its key too.
    await page.route('**/mgmt/v1/api-keys*', (route) => route.abort(), { times: 1 });
    await page.route('**/v1/dashboard/read', async (route) => {
      sent.push((await route.request().allHeaders())['idempotency-key']);
      if (sent.length > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    // It is said for two seconds.
    const said = page.getByText('The service cannot be reached').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await said;
    await page.getByTestId('overlay').locator('.shape').first().waitFor();
    await page.getByText('The service cannot be reached').waitFor({ state: 'detached' });
    expect([sent.length, new Set(sent).size]).toEqual([2, 1]);
    expect(complaints.splice(0).filter((line) => !line.includes('ERR_FAILED'))).toEqual([]);
  });

  async function chooseEndpoint(slug: string): Promise<void> {
    await page.getByLabel('Endpoint', { exact: true }).first().fill(slug);
    await page.getByRole('option', { name: new RegExp(`^${slug} `) }).click();
  }

  async function tokenOf(role: string): Promise<string> {
    const { tokenUrl, clientSecret } = service.description.identity;
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: role,
      client_secret: clientSecret,
    });
    const answer = await fetch(tokenUrl, { method: 'POST', body });
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  const subjectOf = (token: string) =>
    (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string }).sub;

  it("the playground runs the visitor's picture in live mode, and says what is wrong with a file before it is sent", async () => {
    await signIn({ path: '/playground' });
    await page.getByText('Live', { exact: true }).click();
    const chooser = page.locator('input[type=file]').first();
    await chooser.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') });
    await page.getByText(/notes\.txt is text\/plain; this endpoint takes image\/jpeg/).waitFor();
    const huge = { name: 'huge.jpg', mimeType: 'image/jpeg', buffer: Buffer.alloc(51 * 1024 * 1024) };
    await chooser.setInputFiles(huge).catch(async () => {
      // Playwright sends no more than 50 MB at once: the same file, made in the page.
      await page.evaluate(`(() => {
          const files = new DataTransfer();
          files.items.add(new File([new Uint8Array(51 * 1024 * 1024)], 'huge.jpg', { type: 'image/jpeg' }));
          const input = document.querySelector('input[type=file]');
          input.files = files.files;
          input.dispatchEvent(new Event('change', { bubbles: true }));
        })()`);
    });
    await page.getByText(/huge\.jpg has 53\.5 MB; the largest that the service takes has 52\.4 MB/).waitFor();
    await chooser.setInputFiles(PICTURE);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('succeeded', { exact: true }).waitFor();
    await result.getByTestId('overlay').locator('.shape').first().waitFor();
    await result.getByRole('tab', { name: 'JSON' }).click();
    const json = JSON.parse((await result.getByLabel('The job as JSON').textContent()) ?? '') as Record<
      string,
      unknown
    >;
    expect(json).toMatchObject({ livemode: true, result: { odometer: { unit: 'mi' } } });
  });

  it('the console makes a key and shows its secret once, rotates it with grace, and revokes it', async () => {
    await signIn({ path: '/keys' });
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Name').fill('Workshop');
    const dialogue = await page.getByRole('dialog').boundingBox();
    const { width } = page.viewportSize() ?? { width: 0 };
    // In the middle of the window, not of the page beside the navigation.
    expect(Math.round((dialogue?.x ?? 0) + (dialogue?.width ?? 0) / 2)).toBe(Math.round(width / 2));
    await expectAccessible();
    await page.getByRole('button', { name: 'Make it' }).click();
    const first = await keepSecret();
    expect(first).toMatch(/^chk_test_\w+$/);
    expect(await statusWith(first)).toBe(200);
    expect(await page.locator('body').textContent()).not.toContain(first);
    expect(await storedText()).not.toContain('chk_');

    const row = page.getByRole('row', { name: /Workshop/ });
    await row.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('button', { name: 'Rotate it' }).click();
    const second = await keepSecret();
    expect([second === first, await statusWith(first), await statusWith(second)]).toEqual([false, 200, 200]);

    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await row.waitFor({ state: 'detached' });
    expect([await statusWith(first), await statusWith(second)]).toEqual([401, 401]);
    await expectAccessible();

    await page.getByRole('link', { name: 'Audit log' }).click();
    const revoked = page.getByRole('cell', { name: /^Revoked an API key/ }).first();
    await revoked.getByText('JSON', { exact: true }).click();
    await revoked.getByText('"action": "revokeApiKey"').waitFor();
    await page.getByText('name: Workshop; scopes: *; mode: test').first().waitFor();
    await expectAccessible();
    await page.getByRole('combobox', { name: 'Change' }).click();
    await page.getByRole('option', { name: 'Revoked an API key' }).click();
    await page
      .getByRole('cell', { name: /^Made an API key/ })
      .first()
      .waitFor({ state: 'detached' });
    await revoked.waitFor();
  });

  async function keepSecret(): Promise<string> {
    const shown = (await page.getByTestId('secret').textContent()) ?? '';
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByTestId('secret').waitFor({ state: 'detached' });
    return shown;
  }

  const statusWith = async (key: string) =>
    (await fetch(`${service.description.apiUrl}/v1/api-keys/self`, { headers: { Authorization: `Bearer ${key}` } }))
      .status;

  describe('with a webhook receiver', () => {
    let receiver: WebhookReceiver;
    beforeAll(async () => {
      receiver = await startWebhookReceiver();
    });
    afterAll(() => receiver.close());

    it('the console adds a webhook endpoint, tests it, shows and replays deliveries, and enables it after it was disabled', async () => {
      await signIn({ path: '/webhooks' });
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByLabel('Address').fill(receiver.url);
      await page.getByRole('button', { name: 'Add it' }).click();
      expect(await keepSecret()).toMatch(/^whsec_/);
      await page.getByRole('link', { name: receiver.url }).click();
      await heading('Webhook endpoint');
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByText('The test event was answered: delivered.').waitFor();
      const deliveries = page.getByRole('region', { name: 'Deliveries' });
      await deliveries.getByText('test event', { exact: true }).click();
      const sent = JSON.parse((await deliveries.getByLabel('What was sent').textContent()) ?? '') as { id: string };
      expect(receiver.deliveries.map(({ rawBody }) => JSON.parse(rawBody) as object)).toEqual([sent]);
      await expectAccessible();

      await page.getByRole('button', { name: 'Change' }).click();
      await page.getByLabel('Address').fill(`${receiver.url}/elsewhere`);
      await page.getByLabel('job.partial').uncheck();
      await page.getByRole('button', { name: 'Change it' }).click();
      await page.getByText(`${receiver.url}/elsewhere`, { exact: true }).waitFor();
      await page.getByText('job.succeeded, job.failed', { exact: true }).waitFor();

      await deliveries.getByRole('button', { name: 'Replay', exact: true }).click();
      await deliveries.getByText('replay', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Disable' }).click();
      await page.getByRole('button', { name: 'Disable it' }).click();
      await page.getByText('This endpoint is disabled: it receives nothing').waitFor();
      await expectAccessible();
      await page.getByRole('button', { name: 'Enable again' }).click();
      await page.getByText('enabled', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Disable' }).waitFor();
    });
  });

  it('the console shows usage as charts and as text, balances, licences, the organisation and the home page', async () => {
    await signIn();
    await heading('Home');
    await page.getByText('Today, test').waitFor();
    await expectAccessible();
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.locator('.recharts-surface').first().waitFor();
    await page.getByRole('row', { name: /dashboard\.read test .* free$/ }).waitFor();
    await expectAccessible();
    await expectToEndWithItsContent();
    await page.getByRole('link', { name: 'Billing' }).click();
    await page.getByText('Credits cannot be bought here: no payment provider is connected.').waitFor();
    expect(await page.getByRole('button', { name: 'Pay' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('10,000 credits added.').waitFor();
    await page.getByRole('tab', { name: 'Ledger' }).click();
    await page.getByRole('cell', { name: 'Topped up' }).first().waitFor();
    await expectAccessible();
    await page.getByRole('tab', { name: 'Statements' }).click();
    // The page's month: this one may have ended since.
    const button = page.getByRole('button', { name: /^Download [\d-]+ as CSV$/ }).first();
    const [month] = /\d{4}-\d{2}/.exec((await button.textContent()) ?? '') ?? [];
    const downloading = page.waitForEvent('download');
    await button.click();
    const file = await downloading;
    expect(file.suggestedFilename()).toBe(`statement-${month}.csv`);
    const statement = await fetch(`${service.description.apiUrl}/mgmt/v1/statements/${month}.csv`, {
      headers: { Authorization: `Bearer ${await tokenOf('owner')}` },
    });
    expect(readFileSync(await file.path(), 'utf8')).toBe(await statement.text());
    await expectAccessible();
    await page.getByRole('link', { name: 'SDK licences' }).click();
    await page.getByText('0 of 2 SDKs of the paid period are licensed.').waitFor();
    await expectAccessible();
    await page.getByRole('link', { name: 'Organisation' }).click();
    await page.getByLabel('Name').fill('Renamed');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('banner').getByText('Renamed').waitFor();
    await expectAccessible();
  });

  it('after a session has expired, the console asks to sign in again in a window, and goes on with what was typed', async () => {
    await signIn({ path: '/keys' });
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Name').fill('Typed before');
    let isExpired = true;
    await page.route('**/mgmt/v1/**', (route) => {
      if (!isExpired) return route.continue();
      const error = { type: 'authentication_error', code: 'token_expired', message: 'This token has expired.' };
      return route.fulfill({ status: 401, json: { error: { ...error, doc_url: '', request_id: 'req_1' } } });
    });
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByText('Your session has expired').waitFor();
    await expectAccessible();
    isExpired = false;
    // The provider still knows the user, so its window closes by itself.
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await page.getByTestId('secret').waitFor();
    await keepSecret();
    await page.getByRole('cell', { name: 'Typed before' }).waitFor();
    expect(complaints.splice(0).filter((line) => !line.includes('401'))).toEqual([]);
  });

  it('the console makes one key where a response is lost and the click repeated', async () => {
    await signIn({ path: '/keys' });
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Name').fill('Asked twice');
    let isLost = true;
    await page.route('**/mgmt/v1/api-keys', async (route) => {
      if (route.request().method() !== 'POST' || !isLost) return route.continue();
      isLost = false;
      await route.fetch();
      return route.abort();
    });
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByText('The service cannot be reached').first().waitFor();
    await page.getByRole('button', { name: 'Make it' }).click();
    expect(await keepSecret()).toMatch(/^chk_test_\w+$/);
    await page.getByRole('cell', { name: 'Asked twice' }).waitFor();
    expect(await page.getByRole('cell', { name: 'Asked twice' }).count()).toBe(1);
    expect(complaints.splice(0).filter((line) => !line.includes('ERR_FAILED'))).toEqual([]);
  });

  it('the console says what a refusal with 503 says, not that the service is unreachable', async () => {
    await signIn({ path: '/jobs' });
    await heading('Jobs');
    await page.route('**/mgmt/v1/api-keys*', (route) => {
      const error = { type: 'api_error', code: 'payments_unconfigured', message: 'Nothing takes payments here.' };
      return route.fulfill({ status: 503, json: { error: { ...error, doc_url: '', request_id: 'req_1' } } });
    });
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByText('Nothing takes payments here.').waitFor();
    expect(await page.getByText('The service cannot be reached').count()).toBe(0);
    expect(complaints.splice(0).filter((line) => !line.includes('503'))).toEqual([]);
  });

  it('the console begins anew, and sends nothing that waited, when somebody else signs in instead', async () => {
    await signIn({ path: '/keys' });
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Name').fill('Not for them');
    let isExpired = true;
    await page.route('**/mgmt/v1/**', (route) => {
      if (!isExpired) return route.continue();
      const error = { type: 'authentication_error', code: 'token_expired', message: 'This token has expired.' };
      return route.fulfill({ status: 401, json: { error: { ...error, doc_url: '', request_id: 'req_1' } } });
    });
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByText('Your session has expired').waitFor();
    isExpired = false;
    // The provider forgets the user.
    await context.clearCookies();
    const opening = context.waitForEvent('page');
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await fillSignIn(await opening, { role: 'admin' });
    await heading('Home');
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('cell', { name: 'Development test' }).waitFor();
    expect(await page.getByRole('cell', { name: 'Not for them' }).count()).toBe(0);
    expect(complaints.splice(0).filter((line) => !line.includes('401'))).toEqual([]);
  });

  it('the console begins anew, and sends nothing that waited, when the new token is of another organisation', async () => {
    await signIn({ path: '/keys' });
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Name').fill('Not for this organisation');
    let isExpired = true;
    await page.route('**/mgmt/v1/**', (route) => {
      if (!isExpired) return route.continue();
      const error = { type: 'authentication_error', code: 'token_expired', message: 'This token has expired.' };
      return route.fulfill({ status: 401, json: { error: { ...error, doc_url: '', request_id: 'req_1' } } });
    });
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByText('Your session has expired').waitFor();
    isExpired = false;
    await page.route(service.description.identity.tokenUrl, giveTokenOfAnother, { times: 1 });
    await page.getByRole('button', { name: 'Sign in again' }).click();
    await heading('Home');
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('cell', { name: 'Development test' }).waitFor();
    expect(await page.getByRole('cell', { name: 'Not for this organisation' }).count()).toBe(0);
    expect(complaints.splice(0).filter((line) => !line.includes('401'))).toEqual([]);
  });

  it('the console says that a token is refused, and signs in as somebody else', async () => {
    await page.route(service.description.identity.tokenUrl, giveTokenOfAnother, { times: 1 });
    await page.goto(service.description.consoleUrl);
    await fillSignIn(page);
    await page.getByText('This token was not issued by the configured identity provider').waitFor();
    await page.getByRole('button', { name: 'Sign in as somebody else' }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await fillSignIn(page);
    await heading('Home');
    expect(complaints.splice(0).filter((line) => !line.includes('401'))).toEqual([]);
  });

  /** Says that it is of another organisation. The provider did not sign that. */
  async function giveTokenOfAnother(route: Route): Promise<void> {
    const response = await route.fetch();
    const answer = (await response.json()) as { access_token: string };
    const [head = '', claims = '', signature = ''] = answer.access_token.split('.');
    const changed = {
      ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as object),
      org_id: newId('organization'),
    };
    const token = [head, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.');
    await route.fulfill({ response, json: { ...answer, access_token: token } });
  }

  it('the console shows nothing of a job of another organisation, and says that there is none', async () => {
    const orm = await openDatabase({ url: service.description.databaseUrl, poolSize: 2 });
    const other = await createCustomer(orm);
    await orm.close();
    const body = new FormData();
    body.set('image', new Blob([readFileSync(PICTURE)], { type: 'image/jpeg' }), 'picture.jpg');
    const answer = await fetch(`${service.description.apiUrl}/v1/dashboard/read?wait=true`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${other.keys.test}` },
      body,
    });
    const job = (await answer.json()) as { id: string; status: string };
    expect(job.status).toBe('succeeded');
    await signIn({ path: `/jobs/${job.id}` });
    await page.getByText(`There is no job ${job.id}.`).waitFor();
    expect(await page.getByTestId('overlay').count()).toBe(0);
    expect(await page.getByRole('heading', { name: 'dashboard.read' }).count()).toBe(0);
    expect(complaints.splice(0).filter((line) => !line.includes('404'))).toEqual([]);
  });

  it('the console says that the service is unreachable, and recovers without a reload', async () => {
    await signIn({ path: '/jobs' });
    await heading('Jobs');
    await context.setOffline(true);
    await page.getByText('The service cannot be reached').waitFor();
    await expectAccessible();
    await context.setOffline(false);
    await page.getByText('The service cannot be reached').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('cell', { name: 'Development test' }).waitFor();
    // A change is not repeated by itself, and nothing else is read here.
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Name').fill('Made offline');
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByText('The service cannot be reached').first().waitFor();
    await context.setOffline(false);
    await page.getByText('The console tries again').waitFor({ state: 'detached' });
    expect(complaints.splice(0).filter((line) => !line.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
  });

  it.each([
    ['a phone', 'light', { width: 390, height: 844 }],
    ['a phone', 'dark', { width: 390, height: 844 }],
    ['a desktop', 'dark', { width: 1280, height: 900 }],
  ] as const)('the console fits %s in %s colours', async (_device, colorScheme, viewport) => {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await signIn({ path: '/playground' });
    await page.getByRole('button', { name: 'Use an example' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByTestId('overlay').locator('.shape').first().waitFor();
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(36, 36, 36)');
    await expectFitting(viewport);
    await expectAccessible();
    for (const path of PATHS) {
      await page.goto(service.description.consoleUrl + path);
      await page.locator('#main h1').waitFor();
      await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' });
      await expectFitting(viewport);
      if (viewport.width < 600) expect([path, await page.evaluate(WIDER_TABLES)]).toEqual([path, []]);
      await expectAccessible();
    }
  });

  async function expectFitting({ width }: { width: number }): Promise<void> {
    expect([page.url(), await page.evaluate('document.documentElement.scrollWidth')]).toEqual([page.url(), width]);
  }
});
