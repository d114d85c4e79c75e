/** Search over every page: one entry for each section. */
import { setImmediate } from 'node:timers/promises';
import MiniSearch from 'minisearch';
import { escapeHtml } from './markdown.ts';

export interface SearchedPage {
  path: string;
  title: string;
  /** HTML. */
  content: string;
}

export interface Found {
  /** With the anchor of the section. */
  path: string;
  title: string;
  /** Of the section; empty for the first one of a page. */
  heading: string;
  excerpt: string;
}

interface Section extends Found {
  id: number;
  text: string;
}

const RESULTS = 12;
/** Of one page, beside its beginning, so that a long one leaves room for others. */
const SECTIONS_OF_A_PAGE = 3;
const EXCERPT_CHARACTERS = 180;
/** Each word costs a walk through the index, and a single letter begins half of it. Anybody may search, without a key. */
const MAX_QUERY_WORDS = 8;
const MIN_WORD_CHARACTERS = 2;

/** Made page by page, so that other requests are answered in between. */
export async function createSearch(pages: Iterable<() => SearchedPage>): Promise<(query: string) => Found[]> {
  const sections: Section[] = [];
  const index = new MiniSearch<Section>({
    fields: ['title', 'heading', 'text'],
    // Names such as `dashboard.read` and `api_key_expired` are found whole and by their words.
    tokenize: (text) =>
      splitWords(text)
        .flatMap((word) => (partsOf(word).length > 1 ? [word, ...partsOf(word)] : word))
        .filter(Boolean),
    // A word and its plural are one.
    processTerm: (term) => term.toLowerCase().replace(/(?<=\w{3})s$/, ''),
    searchOptions: {
      boost: { title: 4, heading: 2 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      boostDocument: (id) => weightOf(sections[Number(id)]),
    },
  });
  for (const page of pages) {
    const added = sectionsOf(page()).map((section, position) => ({ ...section, id: sections.length + position }));
    sections.push(...added);
    index.addAll(added);
    await setImmediate();
  }
  return (query) => {
    const words = wordsOf(query);
    const asked = words.join(' ');
    const [withAll, withSome] = [search(index, asked, 'AND'), search(index, asked, 'OR')];
    const shown = new Map<string, number>();
    return [...new Set([...withAll, ...withSome])]
      .flatMap((id) => sections[id] ?? [])
      .filter(({ title, heading }) => {
        if (heading === '') return true;
        const before = shown.get(title) ?? 0;
        shown.set(title, before + 1);
        return before < SECTIONS_OF_A_PAGE;
      })
      .slice(0, RESULTS)
      .map(({ path, title, heading, text }) => ({ path, title, heading, excerpt: excerptOf(text, words) }));
  };
}

const splitWords = (text: string): string[] => text.split(/[^\p{L}\p{N}._@-]+/u);
const partsOf = (word: string): string[] => word.split(/[._@-]/);

/** A name counts as many words as it has parts, because the index looks for each: `a.b.c` is three. */
function wordsOf(query: string): string[] {
  const words = splitWords(query.toLowerCase());
  const whole = words.filter((word) => partsOf(word).some((part) => part.length >= MIN_WORD_CHARACTERS));
  const kept: string[] = [];
  let parts = 0;
  for (const word of whole) {
    parts += partsOf(word).length;
    if (parts > MAX_QUERY_WORDS) break;
    kept.push(word);
  }
  return kept;
}

const search = (index: MiniSearch<Section>, query: string, combineWith: 'AND' | 'OR') =>
  index.search(query, { combineWith }).map(({ id }) => Number(id));

/** Explanations before tables of fields and errors, these before history, and a page before its sections. */
function weightOf({ path, heading }: Pick<Section, 'path' | 'heading'> = { path: '', heading: '' }): number {
  if (/^\/docs\/(?:changelog|models\/)/.test(path)) return 0.4;
  return (/^\/docs\/(?:endpoints|reference|errors)\//.test(path) ? 1 : 2) * (heading === '' ? 2 : 1);
}

function sectionsOf({ path, title, content }: SearchedPage): Omit<Section, 'id'>[] {
  const [first = '', ...others] = content.split(/(?=<h[23] id=")/);
  const whole = { path, title, heading: '', text: textOf(first.replace(/<h1\b.*?<\/h1>/s, '')), excerpt: '' };
  let chapter = '';
  return [
    whole,
    ...others.flatMap((html) => {
      const [, level, id = '', ownHeading = ''] = /^<h([23]) id="([^"]+)">(.*?)<\/h[23]>/s.exec(html) ?? [];
      const own = textOf(ownHeading);
      if (level === '2') chapter = own.replace(/[[\]]/g, '');
      // Below a chapter headings repeat: each version of the changelog has "Added".
      const heading = level === '2' || chapter === '' ? own : `${chapter}, ${own}`;
      const text = textOf(html.slice(html.indexOf('</h') + 5));
      // Only an example, or only further headings.
      return text === '' ? [] : [{ path: `${path}#${id}`, title, heading, text, excerpt: '' }];
    }),
  ];
}

/** Without examples in JSON, which repeat the names of all fields. */
const textOf = (html: string) =>
  html
    .replace(/<pre><code class="language-json">.*?<\/code><\/pre>/gs, '')
    .replaceAll('<wbr>', '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();

function excerptOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - EXCERPT_CHARACTERS / 3);
  const from = places.length === 0 ? 0 : start;
  const cut = text.slice(from, from + EXCERPT_CHARACTERS);
  return `${from > 0 ? '… ' : ''}${cut}${from + EXCERPT_CHARACTERS < text.length ? ' …' : ''}`;
}

export function renderResults(query: string, found: readonly Found[]): string {
  const items = found.map(
    ({ path, title, heading, excerpt }) =>
      `<li><a href="${path}">${escapeHtml(heading === '' ? title : `${title}: ${heading}`)}</a><br><small>${escapeHtml(excerpt)}</small></li>\n`,
  );
  if (query === '') return '<h1>Search</h1>\n<p>Type into the field above.</p>\n';
  const count = found.length === 0 ? 'Nothing was found. Try fewer or other words.' : `${found.length} sections.`;
  return `<h1>Search: ${escapeHtml(query)}</h1>\n<p role="status">${count}</p>\n<ol class="results">\n${items.join('')}</ol>\n`;
}

/** For an address without a page. */
export function renderMissing(path: string): string {
  return `<h1>There is no such page</h1>\n<p>Nothing is at <code>${escapeHtml(path)}</code>. Search above, or begin with the <a href="/docs">overview</a>.</p>\n`;
}
