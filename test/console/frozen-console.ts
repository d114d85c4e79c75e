/**
 * The built console in a browser without a service: the examples of the OpenAPI document answer, the clock stands still, and
 * every text is set in a font that the project brings along. What it shows is the same on every machine.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Route } from 'playwright-core';
import type { ApiContext } from '../../src/api/context.ts';
import { buildOpenApi } from '../../src/api/openapi/document.ts';
import { createConsoleRoutes } from '../../src/api/routes/console.ts';
import { endpoints } from '../../src/endpoints/list.ts';

const PROJECT_DIRECTORY = fileURLToPath(new URL('../../', import.meta.url));
/** A name for which browsers need no certificate. Nothing listens there: every request is answered here. */
export const ORIGIN = 'http://localhost:1';
const NOW = '2026-11-21T12:00:00Z';
const SLUG = 'damage.detect';
const FIXTURES = join(PROJECT_DIRECTORY, 'src/endpoints', SLUG, 'fixtures');
const FONT = readFileSync(
  join(PROJECT_DIRECTORY, 'node_modules/@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf'),
).toString('base64');

export type Answer = object | 'empty' | 'refused' | 'silent';
interface Operation {
  responses: Record<
    string,
    { content?: Record<string, { example?: object; examples?: Record<string, { value: object }> }> }
  >;
}

const routes = createConsoleRoutes({
  clientId: 'console',
  authorizationUrl: `${ORIGIN}/authorize`,
  tokenUrl: `${ORIGIN}/token`,
  temporalUrl: 'https://temporal.example',
  temporalNamespace: 'default',
  pictureOrigins: [],
});

const { paths } = buildOpenApi(endpoints, ORIGIN) as unknown as { paths: Record<string, { get?: Operation }> };
const examples = Object.entries(paths).flatMap(([path, { get }]) => {
  const content = get?.responses['200']?.content?.['application/json'];
  const example = content?.example ?? Object.values(content?.examples ?? {})[0]?.value;
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  return example === undefined ? [] : [{ pattern, example }];
});

const job = {
  id: 'job_1CoTsd5kMvWzrNbUoFgrYo',
  object: 'job',
  endpoint: SLUG,
  status: 'succeeded',
  livemode: false,
  is_staging: false,
  created: 1_795_257_271,
  started_at: 1_795_257_272,
  completed_at: 1_795_257_273,
  model_version: 'damage@2026-10-01',
  credits: { reserved: 30, charged: 30 },
  result: JSON.parse(readFileSync(join(FIXTURES, 'default.json'), 'utf8')) as object,
  error: null,
};
const usage = ['live', 'test'].map((mode, index) => ({
  day: '2026-11-21',
  endpoint: SLUG,
  api_key_id: 'key_1CoTsd5kMvWzrNbUoFgrYo',
  mode,
  jobs: { total: 60 - 20 * index, succeeded: 51 - 20 * index, partial: 7, failed: 2, expired: 0 },
  credits_charged: 1_800 - 600 * index,
  charged_usd: index === 0 ? '1.80' : '0.00',
}));
const file = { object: 'job_file', field: 'image', media_type: 'image/jpeg', bytes: 90_000, url: `${ORIGIN}/picture` };

/** What the document has no example for, or one without anything to see. */
const ANSWERS: Readonly<Record<string, object>> = {
  '/mgmt/v1/member': {
    user_id: 'usr_1CoTsd5kMvWzrNbUoFgrYo',
    object: 'member',
    organization_id: 'org_1CoTsd5kMvWzrNbUoFgrYo',
    role: 'owner',
    permissions: [
      'member:read',
      'organization:read',
      'organization:write',
      'endpoints:read',
      'jobs:read',
      'api_keys:read',
      'api_keys:write',
      'test_api_keys:write',
      'api_key_scopes:read',
      'webhook_endpoints:read',
      'webhook_endpoints:write',
      'usage:read',
      'credits:read',
      'credits:write',
      'billing:read',
      'sdk_licenses:read',
      'audit_log:read',
    ],
  },
  [`/mgmt/v1/jobs/${job.id}`]: job,
  [`/mgmt/v1/jobs/${job.id}/files`]: { object: 'list', data: [file], has_more: false },
  '/mgmt/v1/jobs': { object: 'list', data: [job], has_more: false },
  '/mgmt/v1/usage': { object: 'usage', from: '2026-11-21', to: '2026-11-21', data: usage },
};

/** @param answers in place of the examples, by path */
export async function serveFrozenConsole(
  context: BrowserContext,
  answers: Readonly<Record<string, Answer>> = {},
): Promise<void> {
  await context.addInitScript(`(() => {
    const bytes = Uint8Array.from(atob(${JSON.stringify(FONT)}), (character) => character.charCodeAt(0));
    document.fonts.add(new FontFace('Frozen', bytes));
    const sheet = new CSSStyleSheet();
    sheet.replaceSync('*, *::before { font-family: Frozen !important; caret-color: transparent !important; }');
    document.adoptedStyleSheets = [sheet];
  })()`);
  await context.clock.setFixedTime(NOW);
  await context.route('**/*', (route) => answer(route, answers));
}

async function answer(route: Route, answers: Readonly<Record<string, Answer>>): Promise<void> {
  const { pathname, searchParams } = new URL(route.request().url());
  if (pathname === '/authorize') {
    const back = `${ORIGIN}/console/callback?code=1&state=${searchParams.get('state') ?? ''}`;
    const body = `<script>location.replace(${JSON.stringify(back)})</script>`;
    return route.fulfill({ contentType: 'text/html', body });
  }
  if (pathname === '/token') {
    const claims = Buffer.from(JSON.stringify({ sub: 'usr_1', org_id: 'org_1' })).toString('base64url');
    return route.fulfill({ json: { access_token: `x.${claims}.x` } });
  }
  if (pathname === '/picture') return route.fulfill({ path: join(FIXTURES, 'example.jpg') });
  if (pathname.startsWith('/console/assets/')) {
    return route.fulfill({ path: join(PROJECT_DIRECTORY, 'console/dist', pathname.slice('/console'.length)) });
  }
  if (pathname.startsWith('/console')) return route.fulfill(page());
  return answerOfApi(route, pathname, answers[pathname]);
}

async function answerOfApi(route: Route, pathname: string, given: Answer | undefined): Promise<void> {
  if (given === 'silent') return;
  const error = {
    type: 'api_error',
    code: 'internal_error',
    message: 'Example of a failure.',
    doc_url: '',
    request_id: 'req_1',
  };
  if (given === 'refused') return route.fulfill({ status: 500, json: { error } });
  if (given === 'empty') return route.fulfill({ json: { object: 'list', data: [], has_more: false } });
  const example = given ?? ANSWERS[pathname] ?? examples.find(({ pattern }) => pattern.test(pathname))?.example;
  return example ? route.fulfill({ json: example }) : route.fulfill({ status: 404, json: { error } });
}

/** As the API serves it, with its policy. */
function page(): { status: number; headers: Record<string, string>; body: string } {
  const headers = new Headers({ 'Content-Type': 'text/html; charset=utf-8' });
  const context = { type: '', body: '', set: (name: string, value: string) => headers.set(name, value) };
  routes.page(context as unknown as ApiContext);
  return { status: 200, headers: Object.fromEntries(headers), body: context.body };
}
