/** Finds the entry of a book that fits best: of the part, then of the model or make, then of the years. Pure. */
import type { Part } from '../../contracts/vocabulary/parts.ts';
import type { EntryScope, PartEntry, Quality, Severity, Work, WorkEntry } from './repair-entry.ts';

export interface EntryLookup {
  /** Null if the book has no price of the part in this quality. */
  part(part: Part, quality: Quality): PartEntry | null;
  /** Null if the book has no such work. Its severity is the asked one, or null. */
  work(work: Work, part: Part | null, severity: Severity | null): WorkEntry | null;
}

/**
 * @param entries those of the vehicle's model, of its make, and of every make
 * @param year of the vehicle; without it only entries of every year count
 */
export function createEntryLookup(entries: readonly (PartEntry | WorkEntry)[], year: number | null): EntryLookup {
  const ofYear = entries.filter(
    ({ yearFrom, yearTo }) =>
      (yearFrom === null && yearTo === null) ||
      (year !== null && (yearFrom ?? year) <= year && year <= (yearTo ?? year)),
  );
  const parts = ofYear.filter((entry) => entry.kind === 'part');
  const works = ofYear.filter((entry) => entry.kind === 'work');
  return {
    part: (part, quality) => {
      const fitting = parts.filter((entry) => entry.part === part && entry.quality === quality);
      return best(fitting, (entry) => scopeRank(entry));
    },
    work: (work, part, severity) => {
      const fitting = works.filter(
        (entry) =>
          entry.work === work &&
          (entry.part === part || entry.part === null) &&
          (entry.severity === severity || entry.severity === null),
      );
      return best(
        fitting,
        (entry) => Number(entry.part !== null) * 100 + scopeRank(entry) * 10 + Number(entry.severity !== null),
      );
    },
  };
}

/** From 0, of every vehicle, to 5, of some years of a model. */
const scopeRank = ({ make, model, yearFrom, yearTo }: EntryScope) =>
  (model !== '' ? 4 : make !== '' ? 2 : 0) + Number(yearFrom !== null || yearTo !== null);

/** The first of equals. */
function best<Entry>(entries: readonly Entry[], rank: (entry: Entry) => number): Entry | null {
  return entries.reduce<Entry | null>(
    (found, entry) => (found === null || rank(entry) > rank(found) ? entry : found),
    null,
  );
}
