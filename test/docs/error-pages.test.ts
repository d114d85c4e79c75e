/** `docs/errors/` matches the closed table of errors. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/contracts/error-codes.ts';
import { readSourceFiles } from '../architecture/source-files.ts';

const FOLDER = new URL('../../docs/errors/', import.meta.url);
const codes = Object.keys(ERRORS) as ErrorCode[];

const EXPRESSION = /\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}/;
/** A string of a source; a template with its expressions. */
const LITERAL = /'(?:[^'\\\n]|\\.)*'|`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\})*`/g;
/** Shorter templates match almost any message. */
const LEAST_CHARACTERS = 14;
const messages = readSourceFiles('src/**/*.ts').flatMap(({ text }) => messagePatternsIn(text));

describe('the folder of error pages', () => {
  it('the folder of error pages has exactly one page for every code', () => {
    const pages = readdirSync(FOLDER).filter((name) => name !== 'README.md');
    expect(pages.toSorted()).toEqual(codes.map((code) => `${code}.md`).toSorted());
  });

  it('the folder of error pages has an index with the status, type and retry of every code', () => {
    const rows = read('README.md').match(/^\| \[.*$/gm);
    expect(rows).toEqual(
      codes.map((code) => {
        const { status, type, retryable } = ERRORS[code];
        return `| [\`${code}\`](${code}.md) | ${status ?? 'of a job'} | \`${type}\` | ${retryable ? 'yes' : 'no'} |`;
      }),
    );
  });
});

describe.each(codes)('the page of %s', (code) => {
  const { status, type, retryable } = ERRORS[code];
  const page = read(`${code}.md`);

  it('an error page states the status, the type and whether to retry as the table does', () => {
    expect(page).toMatch(new RegExp(`^# ${code}\n`));
    const where = status ?? 'none: it is the `error` of a job';
    expect(page).toContain(`\n| ${where} | \`${type}\` | ${retryable ? 'yes' : 'no'} |\n`);
  });

  it('an error page has the sections When it happens, What to do and Example', () => {
    expect(page.match(/^## .*$/gm)).toEqual(['## When it happens', '## What to do', '## Example']);
    for (const section of page.split(/^## .*$/m)) expect(section.trim()).not.toBe('');
  });

  it('an error page has an example in the form of a real response', () => {
    const example: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
    const message = expect.stringMatching(/^\S.*\.$/);
    if (status === null) {
      expect(example).toEqual({ type, code, message });
      return;
    }
    const { param, ...error } = (example as { error: Record<string, unknown> }).error;
    expect(error).toEqual({
      type,
      code,
      message,
      doc_url: `https://api.example.com/docs/errors/${code}`,
      request_id: expect.stringMatching(/^req_[1-9A-HJ-NP-Za-km-z]{22}$/),
    });
    expect(['undefined', 'string']).toContain(typeof param);
  });

  it('an error page quotes a message of the sources', () => {
    const message = JSON.parse(/"message": ("(?:[^"\\]|\\.)*")/.exec(page)?.[1] ?? 'null');
    expect(messages.some((pattern) => pattern.test(message)) ? message : null).toBe(message);
  });
});

/** Patterns of the strings in a source, joined where they are added; an expression matches any text. */
function messagePatternsIn(source: string): RegExp[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const texts: string[] = [];
  let end = 0;
  for (const { 0: literal, index } of code.matchAll(LITERAL)) {
    const text = literal.slice(1, -1).replaceAll("\\'", "'");
    const isContinued = texts.length > 0 && /^\s*\+\s*$/.test(code.slice(end, index));
    texts.push(isContinued ? `${texts.pop()}${text}` : text);
    end = index + literal.length;
  }
  return texts
    .map((text) => text.split(EXPRESSION))
    .filter((parts) => parts.join('').length >= LEAST_CHARACTERS)
    .map((parts) => new RegExp(`^${parts.map((part) => RegExp.escape(part)).join('.*')}$`));
}

function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}
