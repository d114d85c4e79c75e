/** `docs/errors/` and the closed table of errors say the same. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ERRORS, type ErrorCode } from '../../src/contracts/error-codes.ts';

const FOLDER = new URL('../../docs/errors/', import.meta.url);
const codes = Object.keys(ERRORS) as ErrorCode[];

describe('the folder of error pages', () => {
  it('has one page for every code, and no other', () => {
    const pages = readdirSync(FOLDER).filter((name) => name !== 'README.md');
    expect(pages.toSorted()).toEqual(codes.map((code) => `${code}.md`).toSorted());
  });

  it('has an index with the status, type and retry of every code', () => {
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

  it('states the status, the type and whether to retry as the table does', () => {
    expect(page).toMatch(new RegExp(`^# ${code}\n`));
    const where = status ?? 'none: it is the `error` of a job';
    expect(page).toContain(`\n| ${where} | \`${type}\` | ${retryable ? 'yes' : 'no'} |\n`);
  });

  it('says when it happens and what to do', () => {
    expect(page.match(/^## .*$/gm)).toEqual(['## When it happens', '## What to do', '## Example']);
    for (const section of page.split(/^## .*$/m)) expect(section.trim()).not.toBe('');
  });

  it('has an example in the form that the service answers', () => {
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
});

function read(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}
