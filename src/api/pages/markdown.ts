/** HTML of the documentation's Markdown, in GitHub's dialect. Raw HTML stays text, except comments, which are dropped. */
import { Marked, Renderer, type Token, type Tokens } from 'marked';

/** The target of a link; null for a page that is not served, which is rendered as text. */
export type ResolveLink = (target: string) => string | null;

/** Programs in these languages that follow each other say the same, and are shown side by side. */
const LANGUAGES: Readonly<Record<string, string>> = { bash: 'curl', ts: 'TypeScript', python: 'Python' };

/** In characters: fits a column of a table on a phone. */
const LONGEST_WHOLE_NAME = 13;

/** A comment such as `<!-- example: dashboard.read -->` places what only the site has. */
export type RenderPlace = (name: string, value: string) => string;

export function renderMarkdown(text: string, resolve: ResolveLink, place: RenderPlace = () => ''): string {
  const marked = createMarked(resolve, place);
  const tokens = marked.lexer(text);
  return sideBySide(tokens)
    .map((group) => {
      const html = group.map((token) => marked.parser([token]));
      if (group.length === 1) return html[0];
      return renderTabs(group.map((token, index) => [languageOf(token) ?? '', html[index] ?? '']));
    })
    .join('');
}

/** One line, such as a description in a schema. */
export function renderInline(text: string): string {
  return inline.parseInline(text, { async: false });
}

/** Programs that say the same, by their languages; `html` is each one's `pre`. */
export function renderTabs(programs: readonly (readonly [language: string, html: string])[]): string {
  const panels = programs.map(
    ([language, html]) => `<div data-language="${escapeHtml(language)}">${html.trimEnd()}</div>\n`,
  );
  return `<div class="languages">\n${panels.join('')}</div>\n`;
}

function createMarked(resolve: ResolveLink, place: RenderPlace): Marked {
  const anchors = new Map<string, number>();
  return new Marked({
    tokenizer: {
      // `undefined` means that no HTML begins here; `false` leaves the comment to the library.
      html: (source) => (source.startsWith('<!--') ? false : undefined),
      tag: () => undefined,
    },
    renderer: {
      html({ text }) {
        const [, name = '', value = ''] = /^<!-- (\w+): ([\w.]+) -->\s*$/.exec(text) ?? [];
        return name === '' ? '' : place(name, value);
      },
      heading({ tokens, depth, text: heading }) {
        const anchor = anchorOf(heading);
        const repeated = anchors.get(anchor) ?? 0;
        anchors.set(anchor, repeated + 1);
        return `<h${depth} id="${repeated === 0 ? anchor : `${anchor}-${repeated}`}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // Reachable by keyboard where it scrolls.
      table(token) {
        const html = Renderer.prototype.table.call(this, token).trimEnd();
        const table = html.replace(/(?<=<code>)[^<]*(?=<\/code>)/g, withBreaks);
        return `<div class="table" tabindex="0">${table}</div>\n`;
      },
      link({ href, tokens }) {
        const label = this.parser.parseInline(tokens);
        const address = resolve(href);
        return address === null ? label : `<a href="${escapeHtml(address)}">${label}</a>`;
      },
    },
  });
}

const inline = createMarked(
  (target) => target,
  () => '',
);

/** Tokens in groups: programs of different languages with nothing but space and comments between them are one group. */
function sideBySide(tokens: readonly Token[]): Token[][] {
  const groups: Token[][] = [];
  let open: Token[] | null = null;
  for (const token of tokens) {
    const language = languageOf(token);
    const isApart = token.type === 'space' || token.type === 'html';
    if (language !== null && open && !open.some((earlier) => languageOf(earlier) === language)) {
      open.push(token);
    } else if (language !== null) {
      open = [token];
      groups.push(open);
    } else {
      if (!isApart) open = null;
      groups.push([token]);
    }
  }
  return groups;
}

function languageOf(token: Token): string | null {
  if (token.type !== 'code') return null;
  const [name = ''] = ((token as Tokens.Code).lang ?? '').split(' ');
  return LANGUAGES[name] ?? null;
}

/** As GitHub makes anchors of headings. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

/** HTML of a name such as `price_book.id`, or of a path, with the places between its words where it may break. */
export const breakable = (name: string): string => withBreaks(escapeHtml(name));

const withBreaks = (html: string) =>
  html.length > LONGEST_WHOLE_NAME ? html.replace(/(?<=[\w\]}])(?=[._/])/g, '<wbr>') : html;

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
