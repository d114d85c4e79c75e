/**
 * The viewer in a real Chromium: every snippet of `docs/viewer.md` on a page of another origin under its strict policy, with the
 * results of jobs in test mode, and the page of the service. No page may complain.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Result as SpinSet } from '../../src/endpoints/render.360/result.ts';
import type { Result as Hotspots } from '../../src/endpoints/viewer.hotspots/result.ts';
import { getJob, postJson, postPicture, startTestMode } from '../contract/service.ts';
import { readDocument } from '../docs/snippets.ts';
import type { TestApi } from '../support/api.ts';
import { launchChromium, recordComplaints } from '../support/browser.ts';
import { type Customer, createCustomer } from '../support/customers.ts';
import { readFixtureFile } from '../support/fixture-artefacts.ts';
import { describeWith } from '../support/needs.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

/** A time-out means a hang. */
const PATIENCE_MS = 120_000;
const AXE = readFileSync(join(PROJECT_DIRECTORY, 'node_modules/axe-core/axe.min.js'), 'utf8');
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
/** Where screenshots go, to be looked at; nowhere without it. */
const SCREENSHOTS = process.env.VIEWER_SCREENSHOTS;

/** In the page: plays a film until it has moved; the second that it shows. */
const PLAYED = `(async () => {
  const film = document.querySelector('video');
  film.muted = true;
  await film.play();
  await new Promise((resolve) => film.addEventListener('timeupdate', () => film.currentTime > 0 && resolve()));
  film.pause();
  return film.currentTime;
})()`;

const snippets = [...readDocument('docs/viewer.md').matchAll(/```html\n([\s\S]*?)```/g)].map(([, text = '']) => text);
const [SCRIPT = '', SPIN = '', SPIN_INLINE = '', PICTURE = '', POLICY = ''] = snippets;

let api: TestApi;
let customer: Customer;
let dealer: Server;
let dealerUrl: string;
/** What the dealer's server returns, by path. */
let served: Map<string, { type: string; body: string | Buffer; status?: number }>;
let spinJob: string;
let hotspotsJob: string;
let spin: SpinSet;
let hotspots: Hotspots;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** What the pages did wrong: `recordComplaints`. */
let complaints: string[];

describeWith('chromium', 'the viewer', () => {
  beforeAll(async () => {
    api = await startTestMode({ hasOwnLinks: true });
    customer = await createCustomer(api.orm);
    const { test: key } = customer.keys;
    const pictures = new FormData();
    for (let number = 1; number <= 8; number += 1) {
      const name = number === 1 ? 'example.jpg' : `example-${number}.jpg`;
      pictures.append('images', new Blob([new Uint8Array(readFixtureFile('render.360', name))]), name);
    }
    spinJob = await ended(await api.call('/v1/render/360', { method: 'POST', key, body: pictures }));
    hotspotsJob = await ended(await postJson(api, '/v1/viewer/hotspots', key, { job_id: spinJob }));
    spin = (await getJob(api, spinJob, key)).result as SpinSet;
    hotspots = (await getJob(api, hotspotsJob, key)).result as Hotspots;
    const picture = readFixtureFile('render.hotspots', 'example.jpg');
    const pictureJob = await ended(await postPicture(api, 'render.hotspots', key, { picture }));
    const ofPicture = await getJob(api, pictureJob, key);
    served = new Map([
      ['/spin.json', { type: 'application/json', body: JSON.stringify(spin) }],
      // The whole job does as well as its result.
      ['/hotspots.json', { type: 'application/json', body: JSON.stringify(await getJob(api, hotspotsJob, key)) }],
      ['/hotspots-of-picture.json', { type: 'application/json', body: JSON.stringify(ofPicture.result) }],
      ['/car.jpg', { type: 'image/jpeg', body: picture }],
    ]);
    dealer = createServer((request, response) => {
      const {
        type,
        body,
        status = 200,
      } = served.get(request.url ?? '') ?? { type: 'text/plain', body: '', status: 404 };
      response.writeHead(status, { 'Content-Type': type }).end(body);
    }).listen(0, '127.0.0.1');
    await once(dealer, 'listening');
    dealerUrl = `http://127.0.0.1:${(dealer.address() as AddressInfo).port}`;
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    dealer.closeAllConnections();
    dealer.close();
    await api.close();
  });

  beforeEach(() => open());
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  async function ended({ status, job, text }: Awaited<ReturnType<TestApi['call']>>): Promise<string> {
    expect([status, text]).toEqual([expect.any(Number), expect.stringContaining('"object":"job"')]);
    await api.temporal.client.workflow.getHandle(job.id).result();
    return job.id;
  }

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

  /** Opens a page of the dealer with a snippet of the guide, under the policy of the guide. */
  async function visit(body: string): Promise<void> {
    const html =
      '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Dealer</title><link rel="icon" href="data:,">' +
      `<meta name="viewport" content="width=device-width, initial-scale=1">${POLICY.replace('img-src', 'img-src data:')}${SCRIPT}` +
      `</head><body><main><h1>A car</h1>${body}</main></body></html>`;
    served.set('/page', { type: 'text/html', body: html.replaceAll('https://api.example.com', api.url) });
    await page.goto(`${dealerUrl}/page`);
  }

  const slider = (): Locator => page.getByRole('slider');
  const frameIndex = () => page.evaluate<number>(`document.querySelector('vehicle-spin').frameIndex`);

  async function untilReady(): Promise<void> {
    await slider().waitFor();
    await page.getByRole('progressbar').waitFor({ state: 'hidden' });
  }

  /** What shows, from a screenshot: scripts may not read the pixels of another origin. */
  const looks = async (): Promise<string> => (await slider().screenshot()).toString('base64');

  async function expectAccessible(): Promise<void> {
    await page.evaluate(AXE);
    const found = await page.evaluate<string[]>(
      'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)].join(" ")))',
    );
    expect(found).toEqual([]);
  }

  async function picture(name: string): Promise<void> {
    if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
  }

  it.each([
    ['from addresses', () => SPIN],
    [
      'from a child',
      () =>
        SPIN_INLINE.replace('SPIN_RESULT', () => JSON.stringify(spin)).replace('HOTSPOTS_RESULT', () =>
          JSON.stringify(hotspots),
        ),
    ],
  ])('the viewer shows a spin %s, beginning with its first view', async (_, snippet) => {
    await visit(snippet());
    await untilReady();
    expect(await frameIndex()).toBe(spin.start_frame_index);
    expect(await slider().getAttribute('aria-valuetext')).toBe(
      `front left, picture ${spin.start_frame_index + 1} of ${spin.frames.length}`,
    );
    expect(await slider().getAttribute('aria-label')).toBe('Red hatchback');
    const here = hotspots.frames.find(({ frame_index }) => frame_index === spin.start_frame_index);
    expect(await page.locator('.mark:visible').count()).toBe(here?.hotspots.length);
    await page.getByText(`Hotspots (${hotspots.hotspots.length})`).waitFor();
  });

  it('a spin turns by dragging: a width is a turn, and the near side follows the pointer', async () => {
    await visit(SPIN);
    await untilReady();
    const box = await slider().boundingBox();
    if (!box) throw new Error('the slider is not shown');
    const before = await looks();
    const count = spin.frames.length;
    const drag = async (share: number) => {
      const from = await frameIndex();
      await page.mouse.move(box.x + box.width / 2, box.y + 20);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * (0.5 + share), box.y + 20, { steps: 4 });
      await page.mouse.up();
      return ((await frameIndex()) - from + count) % count;
    };
    expect(await drag(2 / count)).toBe(2);
    expect(await looks()).not.toBe(before);
    expect(await drag(-2 / count)).toBe(count - 2);
    expect(await looks()).toBe(before);
    // The button is up: moving turns nothing.
    await page.mouse.move(box.x + 5, box.y + 20);
    expect(await frameIndex()).toBe(spin.start_frame_index);
  });

  it('a spin turns by touch, and leaves scrolling to the page', async () => {
    await reopen({ viewport: PHONE, hasTouch: true, isMobile: true });
    await visit(SPIN);
    await untilReady();
    const box = await slider().boundingBox();
    if (!box) throw new Error('the slider is not shown');
    const touch = await context.newCDPSession(page);
    const at = (share: number) => [{ x: box.x + box.width * share, y: box.y + 20 }];
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0.3) });
    for (const share of [0.4, 0.5, 0.6]) {
      await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(share) });
    }
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    expect(await frameIndex()).not.toBe(spin.start_frame_index);
    const touchAction = `getComputedStyle(document.querySelector('vehicle-spin').shadowRoot.querySelector('canvas')).touchAction`;
    expect(await page.evaluate(touchAction)).toBe('pan-y');
  });

  it('a spin turns by keyboard, all the way round', async () => {
    await visit(SPIN);
    await untilReady();
    await slider().focus();
    const count = spin.frames.length;
    const press = async (key: string) => {
      await page.keyboard.press(key);
      return frameIndex();
    };
    expect(await press('Home')).toBe(0);
    expect(await press('ArrowLeft')).toBe(count - 1);
    expect(await press('ArrowRight')).toBe(0);
    expect(await press('End')).toBe(count - 1);
    expect(await press('PageDown')).toBe(count - 2);
    expect(await slider().getAttribute('aria-valuenow')).toBe(String(count - 1));
    // Shortcuts of the browser stay the browser's.
    expect(await press('Control+Home')).toBe(count - 2);
  });

  it('the viewer opens a hotspot, closes it with Escape, and returns the focus', async () => {
    await visit(SPIN);
    await page.evaluate(`(() => {
        window.heard = [];
        for (const name of ['hotspotopen', 'hotspotclose', 'framechange'])
          document.querySelector('vehicle-spin').addEventListener(name, ({ type, detail }) => window.heard.push([type, detail.id ?? detail.index]));
      })()`);
    await untilReady();
    const mark = page.locator('.mark:visible').first();
    const label = (await mark.getAttribute('aria-label')) ?? '';
    await mark.click();
    const details = page.getByRole('group', { name: label });
    await details.waitFor();
    expect(await mark.getAttribute('aria-expanded')).toBe('true');
    await picture('desktop-open');
    await expectAccessible();
    await page.keyboard.press('Escape');
    await details.waitFor({ state: 'hidden' });
    expect(
      await page.evaluate(
        `document.querySelector('vehicle-spin').shadowRoot.activeElement.matches('.mark[aria-label="${label}"]')`,
      ),
    ).toBe(true);
    const id = hotspots.hotspots.find((each) => each.label === label)?.id;
    expect(await page.evaluate('window.heard')).toEqual([
      ['hotspotopen', id],
      ['hotspotclose', id],
    ]);
  });

  it.each([
    ['at once for visitors who prefer reduced motion', 'reduce', 0],
    ['through the frames between', 'no-preference', 1],
  ] as const)('a spin turns to a hotspot of another frame %s', async (_, reducedMotion, steps) => {
    await reopen({ reducedMotion });
    await visit(SPIN);
    await untilReady();
    const hidden = hotspots.hotspots.find(
      ({ id }) =>
        !hotspots.frames
          .find(({ frame_index }) => frame_index === spin.start_frame_index)
          ?.hotspots.some(({ hotspot_id }) => hotspot_id === id),
    );
    if (!hidden) throw new Error('the first frame shows every hotspot');
    await page.getByText(/^Hotspots/).click();
    // How often a timer draws, not how long that takes.
    await page.evaluate(`(() => {
        window.timers = 0;
        const later = window.setTimeout;
        window.setTimeout = (...given) => { window.timers += 1; return later(...given); };
      })()`);
    await page.locator('.list').getByRole('button', { name: hidden.label, exact: true }).click();
    await page.getByRole('group', { name: hidden.label }).waitFor();
    await page.locator(`.mark[aria-label="${hidden.label}"]`).waitFor();
    expect(await frameIndex()).toBe(hidden.best_frame_index);
    expect(Math.sign(await page.evaluate<number>('window.timers'))).toBe(steps);
  });

  it('the viewer loads nothing until it is near the window, and the first view before the others', async () => {
    const asked: string[] = [];
    await page.route('**/v1/artefacts/**', async (route) => {
      asked.push(route.request().url());
      await route.continue();
    });
    await visit(`<p>${'Far above.<br>'.repeat(200)}</p>${SPIN}`);
    await page.evaluate(`customElements.whenDefined('vehicle-spin')`);
    // Two frames of the browser later an observer has reported.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(asked).toEqual([]);
    await page.locator('vehicle-spin').scrollIntoViewIfNeeded();
    await untilReady();
    expect(asked[0]).toBe(spin.frames[spin.start_frame_index]?.image.url);
    expect(new Set(asked).size).toBe(spin.frames.length);
  });

  it('the viewer shows a picture with its hotspots', async () => {
    await visit(PICTURE);
    await page.locator('.mark').first().waitFor();
    await page.getByRole('img', { name: 'Red hatchback from the front left' }).waitFor();
    const [box, stage] = [
      await page.locator('.mark').first().boundingBox(),
      await page.locator('.stage').boundingBox(),
    ];
    const { hotspots: placed } = JSON.parse(String(served.get('/hotspots-of-picture.json')?.body)) as {
      hotspots: { label: string; placements: { x_normalized: number; y_normalized: number }[] }[];
    };
    const [place] = placed[0]?.placements ?? [];
    if (!box || !stage || !place) throw new Error('a mark is missing');
    expect(box.x + box.width / 2).toBeCloseTo(stage.x + stage.width * place.x_normalized, 0);
    expect(box.y + box.height / 2).toBeCloseTo(stage.y + stage.height * place.y_normalized, 0);
    await page.locator('.mark').first().press('Enter');
    await page.getByRole('group', { name: placed[0]?.label ?? '' }).waitFor();
    await picture('picture');
    await expectAccessible();
  });

  it.each([
    ['an expired link', { type: 'application/json', body: '{}', status: 404 }, 'unreachable'],
    ['another result', { type: 'application/json', body: '{"plates":[]}' }, 'unknown_result'],
    ['no JSON', { type: 'text/html', body: '<p>Sign in</p>' }, 'unknown_result'],
  ])('the viewer says that there is nothing to show behind %s', async (_, answer, reason) => {
    served.set('/broken.json', answer);
    await visit(SPIN.replace('/spin.json', '/broken.json'));
    await page.getByRole('status').waitFor();
    const again = page.evaluate(`new Promise((done) => {
        const element = document.querySelector('vehicle-spin');
        element.addEventListener('error', ({ detail }) => done(detail.reason));
        element.setAttribute('src', '/broken.json');
      })`);
    expect(await again).toBe(reason);
    await expectAccessible();
    complaints = complaints.filter((line) => !line.includes('404'));
  });

  it('a spin goes on without a frame that is missing', async () => {
    const lost = spin.frames[spin.start_frame_index]?.image.url ?? '';
    const partial = JSON.stringify(spin).replace(lost, `${api.url}/v1/artefacts/art_1111111111.jpg`);
    served.set('/partial.json', { type: 'application/json', body: partial });
    // Chromium blocks an error in place of a picture of another origin.
    const missing = page.waitForEvent('requestfailed');
    await visit(SPIN.replace('/spin.json', '/partial.json'));
    expect((await missing).url()).toContain('art_1111111111.jpg');
    await untilReady();
    await slider().press('ArrowRight');
    expect(await frameIndex()).toBe((spin.start_frame_index + 1) % spin.frames.length);
    complaints = complaints.filter((line) => !line.includes('art_1111111111.jpg'));
  });

  it('the viewer survives a move within the page, and shows the last of two spins', async () => {
    await visit(SPIN);
    await untilReady();
    await page.evaluate(`document.querySelector('main').append(document.querySelector('vehicle-spin'))`);
    expect(await slider().isVisible()).toBe(true);
    served.set('/short.json', {
      type: 'application/json',
      body: JSON.stringify({ ...spin, frames: spin.frames.slice(0, 3), start_frame_index: 0 }),
    });
    await page.evaluate(`(() => {
        const element = document.querySelector('vehicle-spin');
        element.setAttribute('src', '/spin.json');
        element.setAttribute('src', '/short.json');
      })()`);
    await page.locator('[aria-valuemax="3"]').waitFor();
    await untilReady();
    expect(await slider().getAttribute('aria-valuenow')).toBe('1');
  });

  it.each([
    ['desktop', { viewport: DESKTOP, colorScheme: 'light' }],
    ['phone', { viewport: PHONE, colorScheme: 'dark' }],
  ] as const)('the viewer is accessible and fits on a %s', async (name, options) => {
    await reopen(options);
    await visit(SPIN);
    await untilReady();
    await page.getByText(/^Hotspots/).click();
    await picture(`${name}-spin`);
    await expectAccessible();
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  });

  describe('the page of the service', () => {
    it('the viewer page shows the spin and hotspots of jobs, and keeps the key to itself', async () => {
      await page.goto(`${api.url}/viewer#spin=${spinJob}&hotspots=${hotspotsJob}`);
      expect(await page.getByLabel('Spin or film job').inputValue()).toBe(spinJob);
      await page.getByLabel('API key').fill(customer.keys.test);
      await page.getByRole('button', { name: 'Show' }).click();
      await untilReady();
      await page.getByText(`Hotspots (${hotspots.hotspots.length})`).waitFor();
      await picture('page');
      await expectAccessible();
      const kept = await page.evaluate<string>(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
      );
      expect(kept).toBe(JSON.stringify([{}, {}, '', `${api.url}/viewer#spin=${spinJob}&hotspots=${hotspotsJob}`]));
    });

    it('the viewer page plays the film of a job', async () => {
      const images = Array.from({ length: 3 }, () => readFixtureFile('render.360', 'example.jpg'));
      const form = new FormData();
      for (const image of images) form.append('images', new Blob([new Uint8Array(image)]), 'car.jpg');
      const sent = await api.call('/v1/render/video', { method: 'POST', key: customer.keys.test, body: form });
      const filmJob = await ended(sent);
      await page.goto(`${api.url}/viewer#spin=${filmJob}`);
      await page.getByLabel('API key').fill(customer.keys.test);
      await page.getByRole('button', { name: 'Show' }).click();
      const film = page.getByLabel('Walk around the vehicle');
      await film.waitFor();
      expect(await page.evaluate<number>(PLAYED)).toBeGreaterThan(0);
      await picture('film');
      await expectAccessible();
    });

    it('the viewer page shows the hotspots of a picture that stays in the browser', async () => {
      await page.goto(`${api.url}/viewer#hotspots=${hotspotsJob}`);
      await page.getByLabel('API key').fill(customer.keys.test);
      await page.getByLabel('Picture').setInputFiles({
        name: 'car.jpg',
        mimeType: 'image/jpeg',
        buffer: readFixtureFile('render.hotspots', 'example.jpg'),
      });
      await page.getByRole('button', { name: 'Show' }).click();
      await page.getByRole('img', { name: 'car.jpg' }).waitFor();
      await page.getByText(/^Hotspots \(/).waitFor();
      // Hotspots of a spin: the one picture is its first frame.
      const first = hotspots.frames.find(({ frame_index }) => frame_index === 0);
      expect(await page.locator('.mark:visible').count()).toBe(first?.hotspots.length);
    });

    it.each<[string, string | null, () => string, RegExp]>([
      ['a wrong key', 'chk_test_wrong', () => spinJob, /key/i],
      ['an unknown job', null, () => 'job_1111111111111111111111', /job/i],
    ])('the viewer page says what is wrong with %s', async (_, key, job, message) => {
      await page.goto(`${api.url}/viewer#spin=${job()}`);
      await page.getByLabel('API key').fill(key ?? customer.keys.test);
      await page.getByRole('button', { name: 'Show' }).click();
      await page.getByRole('alert').filter({ hasText: message }).waitFor();
      await expectAccessible();
      expect(complaints.splice(0)).toEqual([expect.stringMatching(/40[14]/)]);
    });
  });
});
