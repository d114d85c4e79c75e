/**
 * Lettering on a vehicle → what it states of make and model. Only a line that consists of names and of the words that cars
 * carry beside them counts: a sentence with a make's name in it is an advertisement.
 */

import type { Box } from '../../inference/toolkit/decoding/boxes.ts';
import { boxAround } from '../../inference/toolkit/decoding/rotated-boxes.ts';
import type { PrintedLine } from '../../inference/toolkit/text/text-lines.ts';
import { LEXICON, type LexiconMake } from './lexicon.ts';
import type { Result } from './result.ts';

type Model = LexiconMake['models'][number];

export interface Badge {
  /** As it is read. */
  text: string;
  /** The least of its characters' probabilities. */
  confidence: number;
  /** Index of its picture. */
  imageIndex: number;
  /** In pixels of the picture. */
  box: Box;
  /** What it states, in the order of the words. */
  makes: readonly LexiconMake[];
  /** Models of any make: several makes may have one of the same name. */
  models: readonly { make: LexiconMake; model: Model; isAlone: boolean }[];
}

/** Characters less certain than this are not lettering. */
const LEAST_PROBABILITY = 0.5;
/** Words beside the names, for trim, engine and drive. They state nothing themselves. */
const BESIDE = new RegExp(
  `^(?:${[
    String.raw`\d[.,]\d[A-Z]{0,3}`,
    'T?[DSFG]I|TDCI|HDI|CDI|CRDI|JTD|DCI|TSI|GTI|GTD|VTI|VVTI|MPI|V[68]|[24]X4|4WD|AWD|XDRIVE|QUATTRO|4MATIC|4MOTION',
    'HYBRID|TURBO|DIESEL|SPORT|LIMITED|COMBI|VARIANT|KOMBI|BREAK|ESTATE|WAGON|PICASSO|PLUS|TITANIUM|GHIA|TREND|ZETEC',
    'LX|EX|LE|SE|SEL|SR5|XLE|XLT|XLS|LS|LT|LTZ|SL|SLE|SLT|SV|GT|GTS|GL|GLS|GLX|RS|ST|SI|TYPE|S|L|E',
  ].join('|')})$`,
);
/** Two characters, or figures alone, are too little to tell a make by. */
const TELLS_ALONE = /^(?=.*[A-Z])[A-Z0-9]{3,}$/;

const makesByName = new Map(
  LEXICON.flatMap((make) => [make.name, ...(make.alsoWritten ?? [])].map((name) => [plain(name), make] as const)),
);
const named = LEXICON.flatMap((make) => make.models.map((model) => ({ make, model })));
const modelsByName = Map.groupBy(
  named.filter(({ model: [, , , lettering] }) => !lettering),
  ({ model: [name] }) => plain(name),
);
const lettered = named.filter(({ model: [, , , lettering] }) => lettering);
const LONGEST_NAME_WORDS = 3;

/** @param lines of print on the vehicle */
export function findBadges(lines: readonly PrintedLine[], imageIndex = 0): Badge[] {
  return lines.flatMap((line) => {
    const confidence = Math.min(...line.characters.map(({ probability }) => probability));
    if (confidence < LEAST_PROBABILITY) return [];
    const text = line.characters
      .map(({ character }) => character)
      .join('')
      .trim();
    const stated = statedBy(text);
    return stated ? [{ text, confidence, imageIndex, box: boxAround(line.quad), ...stated }] : [];
  });
}

/** Null for a line with any other word, or without a name. */
export function statedBy(text: string): Pick<Badge, 'makes' | 'models'> | null {
  const words = text
    .split(/[\s/]+/)
    .map(plain)
    .filter((word) => word !== '');
  const makes: LexiconMake[] = [];
  const models: Badge['models'][number][] = [];
  for (let at = 0; at < words.length; ) {
    let taken = 0;
    // The longest name first: a Grand Cherokee is no Cherokee.
    for (let count = Math.min(LONGEST_NAME_WORDS, words.length - at); count > 0 && taken === 0; count -= 1) {
      const name = words.slice(at, at + count).join('');
      const make = makesByName.get(name);
      const found = modelsNamed(name);
      if (make) makes.push(make);
      else models.push(...found);
      if (make || found.length > 0) taken = count;
    }
    if (taken === 0 && !BESIDE.test(words[at] as string)) return null;
    at += Math.max(1, taken);
  }
  return makes.length + models.length > 0 ? { makes, models } : null;
}

function modelsNamed(name: string): Badge['models'][number][] {
  const found = modelsByName.get(name) ?? lettered.filter(({ model: [, , , lettering] }) => lettering?.test(name));
  const isAlone = TELLS_ALONE.test(name) && new Set(found.map(({ make }) => make)).size === 1;
  return found.map((each) => ({ ...each, isAlone }));
}

/** Upper case without accents and punctuation. */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9.,]/g, '')
    .replaceAll(/^[.,]+|[.,]+$/g, '');
}

/** Share of the confidence that a model keeps where its name alone tells the make. */
const ALONE_SHARE = 0.9;

/** Whether a badge belongs to a make that is known: two characters alone may be anything. */
export function isOfMake({ makes, models }: Badge, name: string | undefined): boolean {
  return makes.some((make) => make.name === name) || models.some(({ make }) => make.name === name);
}

/**
 * What the badges of all pictures state. Pictures whose badges state different makes show different vehicles: then make and
 * candidates are those of the first.
 */
export function identityOfPictures(badges: readonly Badge[]): Pick<Result, 'make' | 'candidates' | 'same_vehicle'> {
  const told = [...Map.groupBy(badges, ({ imageIndex }) => imageIndex).values()].map(identityOf);
  const makes = told.flatMap(({ make }) => make ?? []);
  const [first] = makes;
  const other = makes.find(({ value }) => value !== first?.value);
  if (!first || !other) return { ...identityOf(badges), same_vehicle: null };
  const identity = told.find(({ make }) => make === first) ?? NO_IDENTITY;
  return { ...identity, same_vehicle: { value: false, confidence: first.confidence * other.confidence } };
}

const NO_IDENTITY = { make: null, candidates: [] };

/**
 * The make that the badges of all pictures state, and its models. Several badges of one make confirm each other; those of
 * another make contradict it.
 */
export function identityOf(badges: readonly Badge[]): Pick<Result, 'make' | 'candidates'> {
  // Of two badges with the same words one counts: front and rear, or one badge on two pictures.
  const doubts = new Map<string, Map<string, number>>();
  const state = ({ name }: LexiconMake, words: string, confidence: number) => {
    const ofMake = doubts.get(name) ?? new Map<string, number>();
    doubts.set(name, ofMake.set(words, Math.min(ofMake.get(words) ?? 1, 1 - confidence)));
  };
  for (const { makes, models, confidence } of badges) {
    for (const make of makes) state(make, make.name, confidence);
    for (const { make, model, isAlone } of models) {
      if (isAlone) state(make, `${make.name} ${model[0]}`, confidence * ALONE_SHARE);
    }
  }
  const evidence = [...doubts]
    .map(([name, each]) => ({ name, doubt: [...each.values()].reduce((product, doubt) => product * doubt, 1) }))
    .toSorted((a, b) => a.doubt - b.doubt);
  const [best, ...others] = evidence;
  if (!best) return NO_IDENTITY;
  const confidence = others.reduce((product, { doubt }) => product * doubt, 1 - best.doubt);
  const candidates = new Map<string, Result['candidates'][number]>();
  for (const badge of badges) {
    for (const { make, model } of badge.models) {
      const [name, from, to] = model;
      const sure = Math.min(badge.confidence, confidence);
      if (make.name !== best.name || sure <= (candidates.get(name)?.confidence ?? 0)) continue;
      candidates.set(name, {
        make: make.name,
        model: name,
        generation: null,
        year_from: from,
        year_to: to,
        confidence: sure,
      });
    }
  }
  return {
    make: { value: best.name, confidence },
    candidates: [...candidates.values()].toSorted((a, b) => b.confidence - a.confidence),
  };
}
