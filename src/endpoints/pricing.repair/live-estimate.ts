/**
 * Live mode: what repairs cost by a price book. Work that several damages share is done once, as body shops calculate:
 * removing what is in the way, blending the paint of neighbours, preparing the paint. Pure: the same book and request give
 * the same estimate.
 */
import { PAIRED_PARTS, type Part } from '../../contracts/vocabulary/parts.ts';
import type { RepairEstimate } from '../../contracts/vocabulary/repairs.ts';
import { createEntryLookup, type EntryLookup } from '../../price-books/repairs/entry-lookup.ts';
import type { RepairPlan } from '../../price-books/repairs/plan-repair.ts';
import type { PartEntry, WorkEntry } from '../../price-books/repairs/repair-entry.ts';
import { minorDigits } from '../../price-books/row-fields.ts';
import { priceRepairs } from '../shared/repair-costs.ts';
import {
  type Material,
  type Method,
  methodOf,
  neighboursOf,
  notPricedReason,
  type Severity,
  USUAL_SEVERITIES,
  usualMaterialOf,
  WORK_FACTORS,
} from '../shared/repair-rules.ts';
import type { ResolvedParameters } from './references.ts';

type Operation = RepairEstimate['operations'][number];
type NotPriced = RepairEstimate['not_priced'][number];
type Step = NonNullable<Operation['steps']>[number];
type Side = Operation['side'];
type Quality = NonNullable<ResolvedParameters['part_quality']>;

export interface EstimateInput {
  plan: RepairPlan;
  /** Of the vehicle. */
  entries: readonly (PartEntry | WorkEntry)[];
  parameters: ResolvedParameters;
}

/** Conventions: hours of a working day, and a day for intake and drying. */
const HOURS_PER_DAY = 8;
const ADDITIONAL_DAYS = 1;

export function estimateRepairs({ plan, entries, parameters }: EstimateInput): RepairEstimate {
  const { version, rates, rate, currency } = plan;
  const factor = (rate?.rate ?? 1) * 10 ** (minorDigits(currency) - minorDigits(version.currency));
  const book: Book = {
    ...createEntryLookup(entries, parameters.vehicle?.year ?? null),
    convert: (minor) => Math.round(minor * factor),
    quality: parameters.part_quality ?? 'original',
  };
  const { operations, notPriced } = planOperations(damagesIn(parameters), book);
  const estimate: RepairEstimate = {
    price_book: `${version.book}@${version.version}`,
    priced_on: version.observedTo,
    currency,
    ...(rate && { exchange_rate: { base: rate.base, quote: rate.quote, rate: rate.rate, rated_on: rate.ratedOn } }),
    country: version.country,
    region: rates.region || null,
    rates: {
      labour: book.convert(rates.labourRateMinor),
      paint: book.convert(rates.paintRateMinor),
      source: 'regional_average',
    },
    operations,
    totals: { ...NO_COST, tax_rate_percent: rates.taxPercent },
    range: null,
    repair_days: daysOf(operations),
    not_priced: notPriced,
  };
  const { labour_rate, paint_rate } = parameters;
  const priced = priceRepairs(estimate, {
    ...(labour_rate !== undefined && { labour_rate }),
    ...(paint_rate !== undefined && { paint_rate }),
  });
  return {
    ...priced,
    operations: priced.operations
      .toSorted((one, other) => other.net - one.net)
      .map((operation, index) => ({ ...operation, id: `operation_${index + 1}` })),
  };
}

const NO_COST = { labour: 0, paint: 0, paint_materials: 0, parts: 0, net: 0, tax: 0, gross: 0 };

interface Book extends EntryLookup {
  /** From minor units of the book to those of the result, rounded. */
  convert(minor: number): number;
  quality: Quality;
}

/** A damage with the method that repairs it. */
interface Damage {
  id: string;
  part: Part;
  side: Side;
  severity: Severity;
  method: Method;
  /** Null if the damage was stated. */
  confidence: number | null;
}

interface Damages {
  repairable: Damage[];
  refused: NotPriced[];
}

function damagesIn({ damages = [], foundDamages }: ResolvedParameters): Damages {
  const stated = damages.map((damage, index) => ({
    id: damage.id ?? `damage_${index + 1}`,
    type: damage.type,
    part: damage.part,
    side: damage.side ?? null,
    severity: damage.severity ?? null,
    method: damage.repair_method ?? null,
    material: damage.material ?? null,
    confidence: null,
  }));
  const found = foundDamages?.map(({ severity, repairMethod, ...damage }) => ({
    ...damage,
    severity: severity?.value ?? null,
    method: repairMethod,
    material: null as Material | null,
  }));
  const result: Damages = { repairable: [], refused: [] };
  for (const damage of found ?? stated) {
    const { id, type, part, side, severity, confidence } = damage;
    const reason = notPricedReason(damage);
    if (reason !== null || part === null) {
      result.refused.push({ damage_id: id, reason: reason ?? 'part_unknown' });
      continue;
    }
    const method = methodOf({ ...damage, part, material: damage.material ?? usualMaterialOf(part) });
    result.repairable.push({ id, part, side, severity: severity ?? USUAL_SEVERITIES[type], method, confidence });
  }
  return result;
}

/** One method on one part, with all the damages that it repairs. */
interface Job {
  part: Part;
  side: Side;
  method: Method;
  damages: readonly Damage[];
  /** Of the part itself. */
  work: WorkEntry[];
  step: Step;
  newPart: PartEntry | null;
}

function planOperations({ repairable, refused }: Damages, book: Book) {
  const notPriced = [...refused];
  const jobs: Job[] = [];
  for (const { part, side, method, damages } of groupByMethod(repairable)) {
    const job = method === 'none' ? nothingToDo(part, side, damages) : jobOf({ part, side, method, damages }, book);
    if (job) jobs.push(job);
    else notPriced.push(...damages.map(({ id }) => ({ damage_id: id, reason: 'no_repair_data' as const })));
  }
  const { shared, missing } = shareWork(jobs, book);
  const lacking = missing.flatMap(({ damages }) => damages.map(({ id }) => id));
  notPriced.push(...lacking.map((id) => ({ damage_id: id, reason: 'no_repair_data' as const })));
  return { operations: shared.map(({ job, steps }) => operationOf(job, steps, book)), notPriced };
}

interface SharedJob {
  job: Job;
  steps: Step[];
}

/** Gives each shared work to the first job that needs it. Jobs whose shared work the book lacks are left out altogether. */
function shareWork(jobs: readonly Job[], book: Book): { shared: SharedJob[]; missing: Job[] } {
  const work = new SharedWork(jobs, book);
  const taken = jobs.map((job) => ({ job, steps: work.stepsOf(job) }));
  const missing = taken.flatMap(({ job, steps }) => (steps === null ? [job] : []));
  if (missing.length === 0) return { shared: taken.map(({ job, steps }) => ({ job, steps: steps ?? [] })), missing };
  const rest = shareWork(
    jobs.filter((job) => !missing.includes(job)),
    book,
  );
  return { shared: rest.shared, missing: [...missing, ...rest.missing] };
}

/** Methods that a full refinish of the same panel includes. */
const REFINISHED: readonly Method[] = ['repair_and_paint', 'spot_repair', 'touch_up', 'polish'];

/** A new part repairs all damages of the old one; a full refinish, all damages of the paint. */
function groupByMethod(damages: readonly Damage[]): Pick<Job, 'part' | 'side' | 'method' | 'damages'>[] {
  const byPart = Map.groupBy(damages, ({ part, side }) => `${part} ${side}`);
  return [...byPart.values()].flatMap((onPart) => {
    const methods = onPart.map(({ method }) => method);
    const methodFor = (method: Method): Method => {
      if (methods.includes('replace')) return 'replace';
      return methods.includes('repair_and_paint') && REFINISHED.includes(method) ? 'repair_and_paint' : method;
    };
    return [...Map.groupBy(onPart, ({ method }) => methodFor(method))].map(([method, together]) => ({
      part: (together[0] as Damage).part,
      side: (together[0] as Damage).side,
      method,
      damages: together,
    }));
  });
}

function nothingToDo(part: Part, side: Side, damages: readonly Damage[]): Job {
  const step: Step = { kind: 'repair', part, side, labour_hours: 0, paint_hours: 0, paint_materials: 0 };
  return { part, side, method: 'none', damages, work: [], step, newPart: null };
}

/** Null if the book lacks the work or the part. */
function jobOf(group: Pick<Job, 'part' | 'side' | 'method' | 'damages'>, book: Book): Job | null {
  const { part, method, damages } = group;
  if (method === 'none') return null;
  const newPart = method === 'replace' ? (book.part(part, book.quality) ?? book.part(part, 'original')) : null;
  if (method === 'replace' && !newPart) return null;
  if (method === 'replace') {
    const work = book.work('replace', part, null);
    return work && { ...group, work: [work], step: stepOf(group, [{ work, scale: 1 }], book), newPart };
  }
  // What the refinish covers anyway takes no work of its own, except to restore the shape.
  const worked = damages.filter((damage) => damage.method === method || damage.method === 'spot_repair');
  const taken = worked.map(({ method: own, severity }) => {
    const work = own === 'none' ? null : book.work(own, part, severity);
    return work && { work, scale: work.severity === null ? WORK_FACTORS[severity] : 1 };
  });
  const known = taken.filter((one) => one !== null);
  if (known.length < taken.length) return null;
  return { ...group, work: known.map(({ work }) => work), step: stepOf(group, known, book), newPart };
}

/** The part is painted once, as its worst damage needs; body work adds up. */
function stepOf(
  { part, side }: Pick<Job, 'part' | 'side'>,
  works: readonly { work: WorkEntry; scale: number }[],
  book: Book,
): Step {
  return {
    kind: 'repair',
    part,
    side,
    labour_hours: toHundredths(sum(works.map(({ work, scale }) => work.labourHours * scale))),
    paint_hours: toHundredths(Math.max(...works.map(({ work, scale }) => work.paintHours * scale))),
    paint_materials: book.convert(Math.max(...works.map(({ work, scale }) => work.materialsMinor * scale))),
  };
}

/** Keeps account of the work that is done once for the whole vehicle. */
class SharedWork {
  readonly #book: Book;
  /** Parts that are off, or are painted, by name and side. */
  readonly #removed: Set<string>;
  readonly #painted: Set<string>;
  #isPrepared = false;

  constructor(jobs: readonly Job[], book: Book) {
    this.#book = book;
    const keysOf = (chosen: readonly Job[]) => new Set(chosen.map(({ part, side }) => keyOf(part, side)));
    // The time of a new part includes taking off the old one.
    this.#removed = keysOf(jobs.filter(({ method }) => method === 'replace'));
    this.#painted = keysOf(jobs.filter(isRefinish));
  }

  /** What a job needs that no earlier one has done; null if the book lacks it. */
  stepsOf(job: Job): Step[] | null {
    const blends = isRefinish(job) ? this.#blendsBeside(job) : [];
    const works = [...job.work, ...blends.map(({ work }) => work)];
    const inTheWay = uniquePlaces(works.flatMap((work) => work.alsoRemoves.flatMap((part) => placesOf(part, job))));
    const missing = inTheWay.filter(({ part, side }) => !this.#removed.has(keyOf(part, side)));
    const removals = missing.map((place) => ({
      ...place,
      work: this.#book.work('remove_and_refit', place.part, null),
    }));
    if (removals.some(({ work }) => work === null)) return null;
    for (const { part, side } of removals) this.#removed.add(keyOf(part, side));
    for (const { part, side } of blends) this.#painted.add(keyOf(part, side));
    return [
      ...removals.flatMap(({ work, ...place }) => (work ? [this.#step('remove_and_refit', work, place)] : [])),
      ...blends.map(({ work, ...place }) => this.#step('blend', work, place)),
      ...this.#preparation(job),
    ];
  }

  /** The neighbours whose paint the book lets run out, and no job paints. */
  #blendsBeside(job: Job): { part: Part; side: Side; work: WorkEntry }[] {
    const places = neighboursOf(job.part).flatMap((part) => placesOf(part, job));
    return places.flatMap((place) => {
      if (this.#painted.has(keyOf(place.part, place.side))) return [];
      const work = this.#book.work('blend', place.part, null);
      return work ? [{ ...place, work }] : [];
    });
  }

  #preparation({ step }: Job): Step[] {
    if (this.#isPrepared || step.paint_hours === 0) return [];
    const work = this.#book.work('paint_preparation', null, null);
    if (!work) return [];
    this.#isPrepared = true;
    return [this.#step('paint_preparation', work, { part: null, side: 'none' })];
  }

  #step(kind: Step['kind'], work: WorkEntry, place: Pick<Step, 'part' | 'side'>): Step {
    return {
      kind,
      ...place,
      labour_hours: work.labourHours,
      paint_hours: work.paintHours,
      paint_materials: this.#book.convert(work.materialsMinor),
    };
  }
}

/** Whether the whole panel is painted. */
const isRefinish = ({ method, step }: Job) =>
  (method === 'repair_and_paint' || method === 'replace') && step.paint_hours > 0;

interface Place {
  part: Part;
  side: Side;
}

/** Where a part is, seen from a job: on its side; on both, from the middle of the vehicle. */
function placesOf(part: Part, job: Job): Place[] {
  if (!isPaired(part)) return [{ part, side: 'none' }];
  if (!isPaired(job.part)) return (['left', 'right'] as const).map((side) => ({ part, side }));
  return [{ part, side: job.side }];
}

function uniquePlaces(places: readonly Place[]): Place[] {
  return [...new Map(places.map((place) => [keyOf(place.part, place.side), place])).values()];
}

/** Of a part that there is one of, requests may leave out the side. */
const keyOf = (part: Part, side: Side) => `${part} ${isPaired(part) ? side : 'none'}`;

const isPaired = (part: Part) => PAIRED_PARTS.some((paired) => paired === part);

function operationOf(job: Job, further: readonly Step[], book: Book): Operation {
  const { part, side, method, damages, newPart } = job;
  const steps = [job.step, ...further];
  const confidences = damages.map(({ confidence }) => confidence);
  return {
    id: 'operation_0',
    damage_ids: damages.map(({ id }) => id),
    part,
    side,
    method,
    labour_hours: toHundredths(sum(steps.map(({ labour_hours }) => labour_hours))),
    paint_hours: toHundredths(sum(steps.map(({ paint_hours }) => paint_hours))),
    labour: 0,
    paint: 0,
    paint_materials: sum(steps.map(({ paint_materials }) => paint_materials)),
    parts: newPart
      ? [
          {
            part,
            side,
            part_number: newPart.partNumber,
            quality: newPart.quality,
            quantity: 1,
            unit_price: book.convert(newPart.priceMinor),
            total: 0,
          },
        ]
      : [],
    net: 0,
    confidence: confidences.reduce<number | null>(
      (least, one) => (least === null || one === null ? null : Math.min(least, one)),
      1,
    ),
    steps,
  };
}

function daysOf(operations: readonly Operation[]): number {
  const hours = sum(operations.map(({ labour_hours, paint_hours }) => labour_hours + paint_hours));
  return hours === 0 ? 0 : Math.ceil(hours / HOURS_PER_DAY) + ADDITIONAL_DAYS;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

const toHundredths = (hours: number) => Math.round(hours * 100) / 100;
