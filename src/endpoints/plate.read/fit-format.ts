/** Fits glyphs to a format: which of them are its characters, and what stands between and around its groups. */

import { type Glyph, isReadAs, likeliest, likelihoodOf } from './glyphs.ts';
import type { Format } from './grammars/grammar.ts';
import { DESIGNATIONS, SIGNS } from './grammars/names.ts';

export interface Fit {
  format: Format;
  text: string;
  /** Glyph of each character of the text. */
  glyphs: readonly Glyph[];
  /** Negative log-likelihood. Lower is better. */
  cost: number;
}

/** Everything below is a cost in nats, so 2.3 stands for a chance of one in ten. */
const STRAY_SEPARATOR = 2.3;
const MISSING_SEPARATOR = 0.15;
/** A glyph that is not part of the number; what the network was sure of is less likely a seal or an edge. */
const STRAY_GLYPH = 1.5;
const SURE_STRAY_GLYPH = 5;
/**
 * An emblem or a sticker stands between groups more often than a character before the first. One with a gap on one side only
 * belongs to the word on the other.
 */
const SURE_EMBLEM = 2.5;
const BAND = 0.3;
const MOST_LEADING = 3;
const MOST_STRAY = 3;
/** A character less likely than this is not what the picture shows. */
const LEAST_LIKELIHOOD = 0.008;
/** Most characters that the network read as something else, for each one that it read so. */
const MOST_CHANGED = 0.34;

/** @returns the best way in which the glyphs fit, or null */
export function fitFormat(glyphs: readonly Glyph[], format: Format): Fit | null {
  const stray = glyphs.length - format.length;
  if (stray < 0 || stray > MOST_STRAY) return null;
  let best: Fit | null = null;
  for (const skips of waysToSkip(stray, format.groups.length)) {
    const fit = fitSkipping(glyphs, format, skips);
    if (fit && (!best || fit.cost < best.cost)) best = fit;
  }
  return best;
}

/** How many glyphs to skip before each group, and after the last: one at most, but several before the first. */
function waysToSkip(count: number, groups: number): number[][] {
  const ways: number[][] = [];
  const extend = (way: number[], left: number): void => {
    if (way.length === groups + 1) {
      if (left === 0) ways.push(way);
      return;
    }
    const most = Math.min(left, way.length === 0 ? MOST_LEADING : 1);
    for (let skip = 0; skip <= most; skip += 1) extend([...way, skip], left - skip);
  };
  extend([], count);
  return ways;
}

function fitSkipping(glyphs: readonly Glyph[], format: Format, skips: readonly number[]): Fit | null {
  const taken: Glyph[] = [];
  let [text, cost, next] = ['', 0, 0];
  for (const [index, places] of format.groups.entries()) {
    const skipped = skips[index] ?? 0;
    const between = glyphs.slice(next, next + skipped);
    next += skipped;
    const isEmblem = between[0]?.before === glyphs[next]?.before;
    cost +=
      index === 0
        ? leadingCost(between, format.country)
        : strayCost(between, isEmblem ? SURE_EMBLEM : SURE_STRAY_GLYPH);
    const group = glyphs.slice(next, next + places.length);
    const spelt = index === 0 && format.codes ? spellCode(group, places, format.codes) : spell(group, places);
    if (!spelt) return null;
    cost += spelt.cost + separatorCost(group, index, skipped);
    if (format.needs === 'separators' && index > 0 && group[0]?.before === 'character') return null;
    if (format.needs === 'separator' && index === 1 && group[0]?.before === 'character' && skipped === 0) return null;
    text += spelt.text;
    taken.push(...group);
    next += places.length;
  }
  cost += strayCost(glyphs.slice(next), SURE_STRAY_GLYPH);
  return { format, text, glyphs: taken, cost };
}

/** @param country whose letters may stand on a band before the number */
function leadingCost(glyphs: readonly Glyph[], country: string | null): number {
  const text = glyphs.map(likeliest).join('');
  return text.length > 1 && SIGNS[text] === country ? BAND : strayCost(glyphs, SURE_STRAY_GLYPH);
}

function strayCost(glyphs: readonly Glyph[], whenSure: number): number {
  return glyphs.reduce((sum, { printed }) => sum + STRAY_GLYPH + whenSure * printed.probability ** 2, 0);
}

function separatorCost(group: readonly Glyph[], index: number, skipped: number): number {
  const inside = group.slice(1);
  // Only groups stand on lines of their own.
  if (inside.some(({ before }) => before === 'line')) return Number.POSITIVE_INFINITY;
  const stray = inside.filter(({ before }) => before === 'separator').length * STRAY_SEPARATOR;
  const isMissing = index > 0 && skipped === 0 && group[0]?.before === 'character';
  return stray + (isMissing ? MISSING_SEPARATOR : 0);
}

interface Spelling {
  text: string;
  cost: number;
}

function spell(group: readonly Glyph[], places: readonly string[]): Spelling | null {
  let [text, cost] = ['', 0];
  for (const [index, allowed] of places.entries()) {
    const glyph = group[index];
    let [best, likelihood] = ['', 0];
    for (const character of glyph ? allowed : '') {
      const likely = glyph ? likelihoodOf(glyph, character) : 0;
      if (likely > likelihood) [best, likelihood] = [character, likely];
    }
    if (likelihood < LEAST_LIKELIHOOD) return null;
    text += best;
    cost -= Math.log(likelihood);
  }
  return { text, cost };
}

function spellCode(group: readonly Glyph[], places: readonly string[], codes: readonly string[]): Spelling | null {
  let best: Spelling | null = null;
  if (!spell(group, places)) return null;
  for (const code of codes) {
    const spelt = spell(group, Array.from(code));
    if (spelt && (!best || spelt.cost < best.cost)) best = spelt;
  }
  return best;
}

/** The network must have read letters and digits where the format has them, and most characters as they are. */
export function isMostlyRead({ glyphs, text }: Fit): boolean {
  const read = glyphs.map((glyph, index) => isReadAs(glyph, text.charAt(index)));
  const isRead = (pattern: RegExp) =>
    !pattern.test(text) ||
    glyphs.some((glyph, index) => pattern.test(text.charAt(index)) && likeliest(glyph) === text.charAt(index));
  if (DESIGNATIONS.has(/^\p{L}*/u.exec(text)?.[0] ?? '')) return false;
  return read.filter((each) => !each).length <= MOST_CHANGED * text.length && isRead(/\p{L}/u) && isRead(/\d/);
}
