/** Print of a document → its type and its country, from titles, words and codes. */
import type { DOCUMENT_TYPES } from '../../contracts/vocabulary/documents.ts';
import { COUNTRY_NUMBERS, COUNTRY_WORDS, TYPE_WORDS } from './document-words.ts';
import { codeAtStart } from './find-anchors.ts';
import { fold, mentions } from './folded-text.ts';
import type { Parameters } from './request.ts';
import type { Result } from './result.ts';

type DocumentType = (typeof DOCUMENT_TYPES)[number];

/** Less evidence determines nothing. */
const LEAST = 0.5;
/** A second candidate this close makes the first ambiguous. */
const CLOSE = 0.12;
/** Evidence for a candidate from which a hint may select it. */
const LEAST_FOR_HINT = 0.2;

const FOLDED_TYPES = TYPE_WORDS.map(({ type, weight, words }) => ({ type, weight, words: words.map(fold) }));

/**
 * @param texts lines of all pages in reading order
 */
export function recogniseType(
  texts: readonly string[],
  hint: Parameters['document_type_hint'],
): Result['document_type'] {
  const lines = texts.map(fold);
  // A title may be in two lines.
  const pairs = lines.map((line, index) => `${line} ${lines[index + 1] ?? ''}`);
  const doubts = new Map<DocumentType, number>();
  const add = (type: DocumentType, weight: number) => doubts.set(type, (doubts.get(type) ?? 1) * (1 - weight));
  for (const { type, weight, words } of FOLDED_TYPES) {
    if (words.some((word) => pairs.some((line) => mentions(line, word)))) add(type, weight);
  }
  add('registration_certificate', weightOfCodes(countCodes(texts)));
  const candidates = [...doubts]
    .map(([value, doubt]) => ({ value, confidence: 1 - doubt }))
    .toSorted((a, b) => b.confidence - a.confidence);
  const [first, second] = candidates;
  const hinted = candidates.find(({ value, confidence }) => value === hint && confidence >= LEAST_FOR_HINT);
  const isClear = first && first.confidence >= LEAST && first.confidence - (second?.confidence ?? 0) >= CLOSE;
  return isClear ? first : (hinted ?? null);
}

/** Different dotted codes of a harmonised certificate at the starts of lines. */
export function countCodes(texts: readonly string[]): number {
  const codes = texts.map((text) => codeAtStart(text)?.code).filter((code) => code?.includes('.'));
  return new Set(codes).size;
}

function weightOfCodes(count: number): number {
  if (count < 3) return 0;
  return count < 6 ? 0.6 : 0.9;
}

const FOLDED_COUNTRIES = COUNTRY_WORDS.map(({ countries, words }) => ({ countries, words: words.map(fold) }));
/** Frequency of words in documents of countries that are not listed with them. */
const ELSEWHERE = 0.02;
const BY_NUMBER = 0.9;
/** How much more probable a hint makes a country that the print allows. */
const HINTED = 3;
const LEAST_ALLOWED = 0.1;

/** By Bayes' rule from the frequencies of words by country, all countries alike before. */
export function recogniseCountry(texts: readonly string[], hint: Parameters['country_hint']): Result['country'] {
  const page = fold(texts.join('\n'));
  const evidence: Readonly<Record<string, number>>[] = FOLDED_COUNTRIES.filter(({ words }) =>
    words.some((word) => mentions(page, word)),
  ).map(({ countries }) => countries);
  for (const { country, pattern } of COUNTRY_NUMBERS) {
    if (texts.some((text) => pattern.test(text))) evidence.push({ [country]: BY_NUMBER });
  }
  const names = new Set(evidence.flatMap((countries) => Object.keys(countries)));
  const likelihood = (name: string) =>
    evidence.reduce((product, countries) => product * (countries[name] ?? ELSEWHERE), 1);
  const posterior = shares([...names, ''].map((name) => ({ value: name, weight: likelihood(name) })));
  const [clear] = posterior;
  if (clear && clear.value !== '' && clear.confidence >= 0.8) return clear;
  const weighted = posterior.map(({ value, confidence }) => ({
    value,
    weight: value === hint && confidence >= LEAST_ALLOWED ? confidence * HINTED : confidence,
  }));
  const [first, second] = shares(weighted);
  const isClear =
    first && first.value !== '' && first.confidence > LEAST && first.confidence > (second?.confidence ?? 0) + CLOSE;
  return isClear ? first : null;
}

function shares(weighted: readonly { value: string; weight: number }[]): { value: string; confidence: number }[] {
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  return weighted
    .map(({ value, weight }) => ({ value, confidence: weight / total }))
    .toSorted((a, b) => b.confidence - a.confidence);
}
