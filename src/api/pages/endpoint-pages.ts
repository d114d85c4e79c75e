/** A page for each endpoint: its pictures with what was found, its calls, limits, fields, errors and scenarios. */
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';
import { endpoints } from '../../endpoints/list.ts';
import { endpointPath } from '../../endpoints/shared/endpoint-path.ts';
import { exampleRequest, exampleResult } from '../../endpoints/shared/examples.ts';
import { limitPerMinute } from '../../organizations/rate-limits.ts';
import { describeFiles } from '../openapi/endpoint-description.ts';
import { exampleNames, renderExample } from './example-pictures.ts';
import { renderFields } from './fields.ts';
import { breakable, escapeHtml, renderTabs } from './markdown.ts';
import { type Operation, renderDescription, renderErrors, renderJson, renderParameters } from './operation-sections.ts';
import { FAMILY_NAMES } from './page.ts';
import { type Call, snippetsOf } from './snippets.ts';

const SCENARIO_HEADER = 'X-Service-Test-Scenario';

/** HTML. */
export function renderEndpointPage(endpoint: EndpointContract, operation: Operation, origin: string): string {
  const { slug, title, scenarios, stages = [], files } = endpoint;
  const path = endpointPath(slug);
  const call = exampleCall(endpoint, origin);
  const programs = Object.entries(snippetsOf(call)).map(
    ([language, text]) => [language, `<pre><code>${escapeHtml(text)}</code></pre>`] as const,
  );
  const fields = renderFields(endpoint.parameters, 'Parameters');
  return [
    `<h1>${escapeHtml(title)}</h1>\n<p class="operation"><code>POST ${path}</code></p>\n`,
    withLinks(renderDescription(endpoint.description)),
    renderFacts(endpoint),
    '<h2 id="example">Example</h2>\n',
    `<p>${introductionOf(endpoint)}</p>\n`,
    renderExample(endpoint, exampleRequest(endpoint).files.length),
    '<h2 id="call">The call</h2>\n',
    renderCallNotes(endpoint, call),
    renderTabs(programs),
    renderTrial(endpoint, call),
    files.maximum === 0 ? '' : `<h2 id="files">Files</h2>\n${renderDescription(describeFiles(files))}`,
    `<h2 id="parameters">Parameters</h2>\n${fields === '' ? '<p>None.</p>\n' : fields}`,
    `<h2 id="options">Options of the request</h2>\n${renderParameters(operation, [SCENARIO_HEADER])}`,
    stages.length === 0
      ? ''
      : `<h2 id="stages">Stages</h2>\n<p>A job runs in stages, some at the same time: ${stages.map((stage) => `<code>${stage}</code>`).join(', ')}.</p>\n`,
    `<h2 id="result">Result</h2>\n<p>The field <code>result</code> of the <a href="/docs/reference/objects/Job">job</a>.</p>\n`,
    renderFields(endpoint.result, 'Result'),
    `<details><summary>The result of the example</summary>${renderJson(exampleResult(slug))}</details>\n`,
    `<h2 id="errors">Errors</h2>\n<p>A refusal creates no job and costs nothing. A job that fails carries its error: <a href="/docs/errors">which there are</a>.</p>\n`,
    renderErrors(operation),
    `<h2 id="scenarios">Scenarios of test mode</h2>\n<p>The header <code>${SCENARIO_HEADER}</code> selects the outcome with a <a href="/docs/test-mode">test key</a>.</p>\n`,
    renderScenarios(scenarios),
  ].join('');
}

/** Other endpoints that a text names lead to their pages. */
function withLinks(html: string): string {
  return html.replace(/<code>([a-z_]+\.[a-z0-9_]+)<\/code>/g, (code, slug: string) =>
    endpoints.some((endpoint) => endpoint.slug === slug) ? `<a href="/docs/endpoints/${slug}">${code}</a>` : code,
  );
}

function renderFacts(endpoint: EndpointContract): string {
  const { priceCredits, price, rateLimitPerMinute, acceptsWait, expiryMs, family, furtherFamilies, preview } = endpoint;
  const live = limitPerMinute(rateLimitPerMinute, true);
  const test = limitPerMinute(rateLimitPerMinute, false);
  const facts = [
    [
      'Price',
      `${priceCredits} <a href="/docs/credits">credits</a>${price ? ', more with what the request asks for' : ''}`,
    ],
    ['Requests', `${live} a minute, ${test} in test mode`],
    [
      'Waiting',
      acceptsWait
        ? '<code>wait=true</code> holds the connection for up to 30 s'
        : 'poll, or receive a <a href="/docs/webhooks">webhook</a>',
    ],
    ['Expires', `after ${expiryMs / 60_000} minutes in the queue`],
    ['Scope', `<code>${family}:write</code>${furtherFamilies ? ', and those of the endpoints that it runs' : ''}`],
    ['Models', `<a href="/docs/models">${preview ? 'preview: which are installed' : 'which are installed'}</a>`],
  ];
  return `<dl class="facts">${facts.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('')}</dl>\n`;
}

function introductionOf({ slug, files, jobReferences = [] }: EndpointContract): string {
  const from = jobReferences.flatMap((reference) => reference.endpoints).filter((other) => other !== slug);
  const based = from.length > 0 && files.minimum === 0 ? ' It builds on an earlier job.' : '';
  return `What <a href="/docs/test-mode">test mode</a> returns for these files of the project, drawn onto them. All of it is invented.${based}`;
}

/** The call that the page shows: with the example files and the example parameters. */
export function exampleCall(endpoint: EndpointContract, origin: string): Call {
  const { slug, files, acceptsWait, parameters: schema, jobReferences = [] } = endpoint;
  const { parameters, files: sent } = exampleRequest(endpoint);
  const required: readonly string[] = schema.required ?? [];
  const references = jobReferences.map(({ parameter }) => parameter).filter((name) => !required.includes(name));
  const alone = Object.fromEntries(Object.entries(parameters).filter(([name]) => !references.includes(name)));
  // Where pictures suffice, the call names no earlier job, so that it works as it stands.
  const suffices = (endpoint.refine?.({ parameters: alone, files: sent }) ?? null) === null;
  return {
    slug,
    path: endpointPath(slug),
    origin,
    field: files.field,
    takesSeveral: files.maximum > 1,
    isUploaded: files.maximum > 0 && files.directMediaTypes.length === 0,
    fileNames: exampleNames(slug, sent.length),
    parameters: suffices ? alone : parameters,
    scenario: null,
    wait: acceptsWait,
  };
}

function renderCallNotes({ slug, jobReferences = [] }: EndpointContract, { fileNames, parameters }: Call): string {
  const links = fileNames.map((name) => `<a href="/docs/pictures/${slug}/${name}" download>${name}</a>`);
  const earlier = jobReferences.filter(({ parameter }) => parameter in parameters);
  const jobs = earlier.map(
    ({ parameter, endpoints: others }) =>
      ` <code>${parameter}</code> is the id of your job of ${others.map((other) => `<a href="/docs/endpoints/${other}">${other}</a>`).join(' or ')}.`,
  );
  const download = links.length === 0 ? '' : ` Download the files: ${links.join(', ')}.`;
  return `<p><code>API_KEY</code> holds your <a href="/docs/quickstart">key</a>.${download}${jobs.join('')}</p>\n`;
}

/** Where the script puts a form that runs the example; only where the example needs no earlier job and no upload. */
export function renderTrial(endpoint: EndpointContract, call: Call): string {
  if (call.isUploaded || !call.wait || endpoint.jobReferences?.some(({ parameter }) => parameter in call.parameters)) {
    return '';
  }
  const request = {
    path: call.path,
    field: call.field,
    files: call.fileNames.map((name) => `/docs/pictures/${call.slug}/${name}`),
    parameters: call.parameters,
  };
  return `<div class="trial" data-request="${escapeHtml(JSON.stringify(request))}"></div>\n`;
}

function renderScenarios(scenarios: Readonly<Record<string, string>>): string {
  const rows = Object.entries(scenarios).map(
    ([name, effect]) =>
      `<tr><th scope="row"><code>${breakable(name)}</code></th><td>${renderDescription(effect)}</td></tr>`,
  );
  return (
    '<div class="table" tabindex="0" role="region" aria-label="Scenarios"><table><thead><tr><th scope="col">Scenario</th>' +
    `<th scope="col">Effect</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div>\n`
  );
}

export function renderEndpointIndex(listed: readonly EndpointContract[]): string {
  return `<h1>Endpoints</h1>\n<p>Each call to an endpoint is a <a href="/docs/reference/objects/Job">job</a>. All work with a <a href="/docs/test-mode">test key</a>; <a href="/docs/models">models</a> says which work with live keys here.</p>\n${renderEndpointCards(listed)}`;
}

/** All endpoints by family, each with its first picture. */
export function renderEndpointCards(listed: readonly EndpointContract[]): string {
  const groups = Object.entries(FAMILY_NAMES).map(([family, name]) => {
    const cards = listed.filter((endpoint) => endpoint.family === family).map(renderCard);
    return cards.length === 0 ? '' : `<h3 id="${family}">${name}</h3>\n<ul class="cards">\n${cards.join('')}</ul>\n`;
  });
  return groups.join('');
}

function renderCard({ slug, title, priceCredits }: EndpointContract): string {
  const [picture] = exampleNames(slug, 1).filter((file) => file.endsWith('.jpg'));
  const image = picture === undefined ? '' : `<img src="/docs/pictures/${slug}/${picture}" alt="" loading="lazy">`;
  return (
    `<li><a href="/docs/endpoints/${slug}">${image}<strong>${slug}</strong> <span>${escapeHtml(title)}</span></a> ` +
    `<small>from ${priceCredits} credits</small></li>\n`
  );
}
