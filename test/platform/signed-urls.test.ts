import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSignedUrls } from '../../src/platform/signed-urls.ts';

const NOON = new Date('2026-12-01T12:00:00.000Z');
const PATH = '/v1/uploads/upl_11111111/content';
const urls = createSignedUrls('https://api.example', 'the key');

const queryOf = (url: string) => Object.fromEntries(new URL(url).searchParams);

it('a link points to its path at the public address', () => {
  const url = new URL(urls.sign(PATH, NOON));
  expect(url.origin + url.pathname).toBe(`https://api.example${PATH}`);
  expect([...url.searchParams.keys()]).toEqual(['expires', 'signature']);
});

it('a link is valid until its expiry second', () => {
  const query = queryOf(urls.sign(PATH, NOON));
  expect(urls.verify(PATH, query, new Date(NOON.getTime() - 1))).toBe('valid');
  expect(urls.verify(PATH, query, NOON)).toBe('expired');
});

describe('a forged link', () => {
  const query = queryOf(urls.sign(PATH, NOON));
  const before = new Date(NOON.getTime() - 60_000);

  it.each([
    ['without anything', {}],
    ['without its signature', { expires: query.expires }],
    ['with two signatures', { ...query, signature: [query.signature, query.signature] }],
    ['with a shorter signature', { ...query, signature: query.signature?.slice(1) }],
    ['with an empty signature', { ...query, signature: '' }],
    ['with a signature that is not ASCII', { ...query, signature: 'ü'.repeat(32) }],
    ['with a later time', { ...query, expires: String(Number(query.expires) + 1) }],
    ['with the same time written otherwise', { ...query, expires: `0${query.expires}` }],
  ])('a link %s is forged', (_, forged) => expect(urls.verify(PATH, forged, before)).toBe('forged'));

  it('a link is forged for any other path', () => {
    fc.assert(
      fc.property(fc.webPath(), (other) => {
        fc.pre(other !== PATH);
        return urls.verify(other, query, before) === 'forged';
      }),
    );
  });

  it('a link is forged under another key', () => {
    expect(createSignedUrls('https://api.example', 'another key').verify(PATH, query, before)).toBe('forged');
  });
});
