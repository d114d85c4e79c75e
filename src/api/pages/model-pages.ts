/** The models: which endpoints answer live keys with which build, and the card of each build that comes along. */
import { globSync, readFileSync } from 'node:fs';
import { breakable, escapeHtml } from './markdown.ts';

export interface ModelCard {
  model: string;
  release: string;
  /** Markdown. */
  text: string;
}

export interface EndpointStatus {
  endpoint: string;
  title: string;
  preview: boolean;
  available: boolean;
  /** `<model>@<release>`, the default build first. */
  model_versions: readonly string[];
}

const FOLDER = new URL('../../../models/', import.meta.url);

export const cardPath = ({ model, release }: Pick<ModelCard, 'model' | 'release'>) =>
  `/docs/models/${model}@${release}`;

/** Of the models in the folder `models/` of the service itself. */
export function readModelCards(): ModelCard[] {
  return globSync('*/*/MODEL_CARD.md', { cwd: FOLDER })
    .toSorted()
    .map((path) => {
      const [model = '', release = ''] = path.split('/');
      return { model, release, text: readFileSync(new URL(path, FOLDER), 'utf8') };
    });
}

export function renderModelIndex(statuses: readonly EndpointStatus[], cards: readonly ModelCard[]): string {
  const known = new Set(cards.map(({ model, release }) => `${model}@${release}`));
  const buildOf = (version: string) => {
    const name = `<code>${escapeHtml(version).replace('@', '<wbr>@')}</code>`;
    return known.has(version) ? `<a href="/docs/models/${version}">${name}</a>` : name;
  };
  const rows = statuses.map(
    ({ endpoint, title, preview, available, model_versions: versions }) =>
      `<tr><th scope="row"><a href="/docs/endpoints/${endpoint}">${breakable(endpoint)}</a><br><small>${escapeHtml(title)}</small></th>` +
      `<td>${available ? '<strong class="yes">available</strong>' : 'no model'}${preview ? ', preview' : ''}</td>` +
      `<td>${versions.map(buildOf).join('<br>')}</td></tr>`,
  );
  const listed = cards.map((card) => `<li><a href="${cardPath(card)}">${card.model}</a> ${card.release}</li>\n`);
  return (
    '<h1>Models</h1>\n<p>What answers live keys at this address, now. An endpoint without a model refuses live requests with ' +
    '<a href="/docs/errors/endpoint_unavailable"><code>endpoint_unavailable</code></a>; <a href="/docs/test-mode">test mode</a> ' +
    'needs no model. Preview: the weights show how it works, and are to be replaced for production.</p>\n' +
    '<h2 id="status">Status</h2>\n<div class="table" tabindex="0" role="region" aria-label="Status"><table><thead><tr>' +
    '<th scope="col">Endpoint</th><th scope="col">Live keys</th><th scope="col">Builds, the default first</th></tr></thead>' +
    `<tbody>${rows.join('\n')}</tbody></table></div>\n` +
    '<h2 id="cards">Cards</h2>\n<p>What the models that come along were trained on, how well they do, and where they fail.</p>\n' +
    `<ul>\n${listed.join('')}</ul>\n`
  );
}
