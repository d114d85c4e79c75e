/** Files, links and commands named in the documentation exist. */
import { existsSync, globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GUIDES, guideFile } from '../../src/api/pages/page.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';
import { documents, readDocument } from './snippets.ts';

const { scripts } = createRequire(import.meta.url)('../../package.json') as { scripts: Record<string, string> };

/** `src/platform/config/config.ts`, `docs/errors/`, `src/workers/*.ts`: a path of the project, not a command or a placeholder. */
const PATH = /`((?:src|test|scripts|docs|migrations|models|training|bench)\/[\w./*-]*)`/g;

describe.each(documents())('%s', (document) => {
  const text = readDocument(document);

  it('a document links to files and headings that exist', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      if (link.startsWith('https://')) return false;
      const [path = '', heading] = link.split('#');
      const target = path === '' ? document : normalize(join(dirname(document), path));
      if (!existsSync(PROJECT_DIRECTORY + target)) return true;
      return heading !== undefined && !headingsOf(readDocument(target)).includes(heading);
    });
    expect(broken).toEqual([]);
  });

  it('a document names paths that exist', () => {
    const paths = [...text.matchAll(PATH)].map(([, path = '']) => path);
    const folders = ['', `${dirname(document)}/`];
    const missing = paths.filter(
      (path) => !folders.some((folder) => globSync(folder + path, { cwd: PROJECT_DIRECTORY }).length > 0),
    );
    expect(missing).toEqual([]);
  });

  it('a document keeps the key in API_KEY, and a live one in LIVE_KEY, in every language', () => {
    const variables = text.matchAll(
      /Bearer \$(\w*KEY)\b|process\.env\.(\w*KEY)\b|os\.environ\["(\w*KEY)"\]|export (\w*KEY)=/g,
    );
    const names = [...variables].map(([, ...found]) => found.find((name) => name !== undefined));
    // The tour makes a key of its own.
    expect(names.filter((name) => !['API_KEY', 'LIVE_KEY', 'NEW_KEY'].includes(name ?? ''))).toEqual([]);
  });

  it('a document names npm commands that exist', () => {
    const commands = [...text.matchAll(/npm run (?:-s |--silent )?([a-z][\w:-]*)/g)].map(([, command = '']) => command);
    expect(commands.filter((command) => !(command in scripts))).toEqual([]);
  });
});

it('the README lists every npm command', () => {
  const commands = readDocument('README.md').split('## Commands')[1] ?? '';
  const parts = ['typecheck', 'lint'];
  const missing = Object.keys(scripts).filter(
    (name) => !parts.includes(name) && !new RegExp(`\\b${name}\\b`).test(commands),
  );
  expect(missing).toEqual([]);
});

it('the README describes every folder of src/', () => {
  const folders = globSync('src/*/', { cwd: PROJECT_DIRECTORY }).map((path) => `\`${path.replace(/\/?$/, '/')}\``);
  expect(folders.filter((folder) => !readDocument('README.md').includes(folder))).toEqual([]);
});

it('each migration has the next number and states whether the previous release keeps working', () => {
  const migrations = globSync('migrations/*.ts', { cwd: PROJECT_DIRECTORY }).toSorted();
  for (const [position, migration] of migrations.entries()) {
    expect(migration).toMatch(new RegExp(`^migrations/${String(position + 1).padStart(4, '0')}-[a-z-]+\\.ts$`));
    expect(readDocument(migration)).toMatch(/^\/\*\*\n \* (?:Compatible|Breaking): /);
  }
});

describe('the decisions', () => {
  const decisions = globSync('docs/adr/[0-9]*.md', { cwd: PROJECT_DIRECTORY }).toSorted();

  it('the decisions are numbered without a gap, and listed', () => {
    const index = readDocument('docs/adr/README.md');
    const listed = [...index.matchAll(/^- \[(\d{4})\]\((.*)\) .*$/gm)].map(([, number, file]) => [
      number,
      `docs/adr/${file}`,
    ]);
    const numbers = decisions.map((_, position) => String(position + 1).padStart(4, '0'));
    expect(listed).toEqual(decisions.map((decision, position) => [numbers[position], decision]));
    for (const [position, decision] of decisions.entries()) expect(decision).toContain(`/${numbers[position]}-`);
  });

  it.each(decisions)('%s states context, decision and consequences', (decision) => {
    expect(
      readDocument(decision)
        .match(/^##? .*$/gm)
        ?.slice(1),
    ).toEqual(['## Context', '## Decision', '## Consequences']);
  });
});

describe('the pages that the API serves', () => {
  /** Only operators need them, so a link to one is shown as text. */
  const OF_OPERATORS = ['configuration', 'operations', 'remote-inference'];
  const served = ['docs/README.md', ...Object.keys(GUIDES).map(guideFile)];
  const errorPages = documents().filter((document) => document.startsWith('docs/errors/'));

  it.each([...served, ...errorPages])('the served page %s links to pages that are served, too', (document) => {
    const linked = [...readDocument(document).matchAll(/\]\(([\w./-]+\.md)/g)]
      .map(([, link = '']) => normalize(join(dirname(document), link)))
      .filter((target) => /^docs\/[\w-]+\.md$/.test(target) && !OF_OPERATORS.includes(basename(target, '.md')));
    expect(linked.filter((target) => !served.includes(target))).toEqual([]);
  });

  it('the API serves the page of the bounds that callers meet', () => {
    expect(served).toContain('docs/bounds.md');
  });
});

/** GitHub's anchor of a heading. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
