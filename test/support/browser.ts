/** Chromium for tests, and what a page in it does wrong. */
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../../scripts/install-chromium.ts';

/** Only within `describeWith('chromium', …)`. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium() ?? '', args: ['--no-sandbox'] });
}

/** Reports breaches of the page's own policy, which otherwise only the browser writes about. */
const REPORT_BREACHES = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
  console.error('policy: ' + violatedDirective + ' ' + blockedURI);
})`;

/**
 * Adds to `complaints` what the page itself writes to the console, errors that nobody caught, breaches of its policy, and
 * requests that were refused or lost. What a browser writes on its own account differs from version to version, so it is left out.
 */
export async function recordComplaints(page: Page, complaints: string[]): Promise<void> {
  await page.addInitScript(REPORT_BREACHES);
  page.on('pageerror', (error) => complaints.push(`${page.url()} uncaught: ${error.message}`));
  page.on('response', (response) => {
    if (response.status() >= 400) {
      complaints.push(`${response.status()} ${response.request().method()} ${new URL(response.url()).pathname}`);
    }
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? 'failed';
    // The page was left, or gave it up itself.
    if (reason !== 'net::ERR_ABORTED')
      complaints.push(`${reason} ${request.method()} ${new URL(request.url()).pathname}`);
  });
  const session = await page.context().newCDPSession(page);
  session.on('Runtime.consoleAPICalled', ({ type, args }) => {
    complaints.push(`${page.url()} ${type}: ${args.map(({ value, description }) => value ?? description).join(' ')}`);
  });
  await session.send('Runtime.enable');
}
