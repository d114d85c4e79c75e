import { expect, it } from 'vitest';
import { createSearch } from '../../../src/api/pages/search.ts';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const pages = ['Uploads', 'Webhooks', 'Credits'].map((title) => () => ({
  path: `/docs/${title.toLowerCase()}`,
  title,
  content: `<h1>${title}</h1><p>${title} ${LETTERS.split('').join(' ')}</p>`,
}));
const search = await createSearch(pages);
const titlesOf = (query: string) => search(query).map(({ title }) => title);

it('the search of the documentation looks for no single letters: each would walk through half of the index', () => {
  expect(titlesOf(LETTERS.split('').join(' '))).toEqual([]);
  expect(titlesOf(LETTERS.split('').join('.'))).toEqual([]);
  expect(titlesOf('a uploads')).toEqual(['Uploads']);
});

it('the search of the documentation looks for eight words at most', () => {
  const others = Array.from({ length: 8 }, (_, index) => `word${index}`).join(' ');
  expect(titlesOf(`webhooks ${others}`)).toEqual(['Webhooks']);
  expect(titlesOf(`${others} webhooks`)).toEqual([]);
});
