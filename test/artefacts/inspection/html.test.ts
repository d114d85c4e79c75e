import { expect, it } from 'vitest';
import { faultOf } from './fault-of.ts';

const REFUSED = 'The file contains something that runs or is fetched.';
const HTML = 'text/html; charset=utf-8';
const page = (content: string) => Buffer.from(`<!doctype html><html>${content}</html>`);

it.each(['<', '<meta ', '<p on', ' on', 'url', '<p title="'])(
  'a page of a million repeated "%s" is examined in linear time',
  (part) => {
    // Square time would take minutes.
    expect([null, REFUSED]).toContain(faultOf(page(part.repeat(1_000_000)), HTML));
  },
);

it.each([
  '<p onclick=x>',
  '<svg/onload=x>',
  '<p title="a"onclick="x">',
  '<p title="<" onclick="x">',
  "<p title='>' onclick='x'>",
  '<meta http-equiv="refresh">',
  '<meta/http-equiv="refresh">',
  '<meta title="<" http-equiv="refresh">',
])('a page with %s is refused', (content) => {
  expect(faultOf(page(content), HTML)).toBe(REFUSED);
});

it('a page of text and tables is kept', () => {
  expect(faultOf(page('<table><tr><td class="on">1 &lt; 2</td></tr></table>'), HTML)).toBeNull();
});
