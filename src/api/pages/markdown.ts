/** HTML of the documentation's Markdown, in GitHub's dialect. Raw HTML stays text, except comments, which are dropped. */
import { Marked } from 'marked';

/** The target of a link; null for a page that is not served, which is rendered as text. */
export type ResolveLink = (target: string) => string | null;

export function renderMarkdown(text: string, resolve: ResolveLink): string {
  const marked = new Marked({
    tokenizer: {
      // `undefined` means that no HTML begins here; `false` leaves the comment to the library.
      html: (source) => (source.startsWith('<!--') ? false : undefined),
      tag: () => undefined,
    },
    renderer: {
      html: () => '',
      heading({ tokens, depth, text: heading }) {
        return `<h${depth} id="${anchorOf(heading)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const label = this.parser.parseInline(tokens);
        const address = resolve(href);
        return address === null ? label : `<a href="${escapeHtml(address)}">${label}</a>`;
      },
    },
  });
  return marked.parse(text, { async: false });
}

/** As GitHub makes anchors of headings. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
