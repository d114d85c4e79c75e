/**
 * HTML of the documentation's Markdown: headings, paragraphs, lists, tables, code, links and bold text. It is no parser of
 * Markdown at large: a test holds every page that is served to these forms.
 */

/** Where a link leads; null for what is not served, which is then no link. */
export type ResolveLink = (target: string) => string | null;

export function renderMarkdown(text: string, resolve: ResolveLink): string {
  const lines = text.split('\n');
  const inline = (span: string) => renderInline(span, resolve);
  const blocks: string[] = [];
  const takeWhile = (wanted: (line: string) => boolean): string[] => {
    const end = lines.findIndex((line) => !wanted(line));
    return lines.splice(0, end === -1 ? lines.length : end);
  };

  while (lines.length > 0) {
    const line = lines[0] ?? '';
    if (line.trim() === '') lines.shift();
    else if (line.startsWith('<!--')) dropComment(lines);
    else if (line.startsWith('```')) blocks.push(renderCode(lines, takeWhile));
    else if (HEADING.test(line)) blocks.push(renderHeading(lines.shift() ?? '', inline));
    else if (line.startsWith('|'))
      blocks.push(
        renderTable(
          takeWhile((row) => row.startsWith('|')),
          inline,
        ),
      );
    else if (ITEM.test(line))
      blocks.push(
        renderList(
          takeWhile((row) => ITEM.test(row) || row.startsWith('  ')),
          inline,
        ),
      );
    else blocks.push(`<p>${inline(takeWhile(isText).join('\n'))}</p>`);
  }
  return blocks.join('\n');
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

const HEADING = /^(#{1,4}) (.*)$/;
const ITEM = /^(?:-|\d+\.) /;
const isText = (line: string) =>
  line.trim() !== '' && !/^(?:<!--|```|\|)/.test(line) && !HEADING.test(line) && !ITEM.test(line);

type Inline = (span: string) => string;

/** Comments are for the tests of the documentation. */
function dropComment(lines: string[]): void {
  const end = lines.findIndex((line) => line.includes('-->'));
  lines.splice(0, end + 1 || lines.length);
}

function renderCode(lines: string[], takeWhile: (wanted: (line: string) => boolean) => string[]): string {
  lines.shift();
  const code = takeWhile((line) => !line.startsWith('```'));
  lines.shift();
  return `<pre><code>${escapeHtml(code.join('\n'))}</code></pre>`;
}

function renderHeading(line: string, inline: Inline): string {
  const [, marks = '#', text = ''] = HEADING.exec(line) ?? [];
  const level = marks.length;
  return `<h${level} id="${anchorOf(text)}">${inline(text)}</h${level}>`;
}

function renderList(lines: readonly string[], inline: Inline): string {
  const tag = lines[0]?.startsWith('-') ? 'ul' : 'ol';
  const items = lines
    .join('\n')
    .split(/^(?:-|\d+\.) /m)
    .slice(1);
  return `<${tag}>${items.map((item) => `<li>${inline(item.trim())}</li>`).join('\n')}</${tag}>`;
}

/** The first row is the head; the second draws the line below it. */
function renderTable([head = '', , ...rows]: readonly string[], inline: Inline): string {
  const cells = (row: string, tag: 'th' | 'td') =>
    row
      .replace(/^\|\s*|\s*\|\s*$/g, '')
      .split('|')
      .map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`)
      .join('');
  const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
  return `<table><thead><tr>${cells(head, 'th')}</tr></thead>\n<tbody>${body}</tbody></table>`;
}

/** Code, a link, or bold text. */
const SPAN = /`([^`]+)`|\[((?:`[^`]*`|[^\]`])+)\]\(([^)\s]+)\)|\*\*([^*]+)\*\*/g;

function renderInline(text: string, resolve: ResolveLink): string {
  let html = '';
  let end = 0;
  for (const { 0: all, 1: code, 2: label = '', 3: target, 4: bold = '', index } of text.matchAll(SPAN)) {
    html += escapeHtml(text.slice(end, index));
    end = index + all.length;
    if (code !== undefined) html += `<code>${escapeHtml(code)}</code>`;
    else if (target === undefined) html += `<strong>${renderInline(bold, resolve)}</strong>`;
    else html += renderLink(renderInline(label, resolve), resolve(target));
  }
  return html + escapeHtml(text.slice(end));
}

function renderLink(label: string, address: string | null): string {
  return address === null ? label : `<a href="${escapeHtml(address)}">${label}</a>`;
}
