/** The pictures that `evaluate.ts` measures on, with what they show, and the readings in each endpoint's result. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EndpointContract } from '../src/contracts/endpoint-contract.ts';
import { dashboardRead } from '../src/endpoints/dashboard.read/contract.ts';
import type { Result as DashboardResult } from '../src/endpoints/dashboard.read/result.ts';
import { documentRead } from '../src/endpoints/document.read/contract.ts';
import type { Result as DocumentResult } from '../src/endpoints/document.read/result.ts';
import { driverLicenseRead } from '../src/endpoints/driver_license.read/contract.ts';
import type { Result as LicenseResult } from '../src/endpoints/driver_license.read/result.ts';
import { plateRead } from '../src/endpoints/plate.read/contract.ts';
import type { Result as PlateResult } from '../src/endpoints/plate.read/result.ts';
import { tireRead } from '../src/endpoints/tire.read/contract.ts';
import type { Result as TireResult } from '../src/endpoints/tire.read/result.ts';
import { vinRead } from '../src/endpoints/vin.read/contract.ts';
import type { Result as VinResult } from '../src/endpoints/vin.read/result.ts';
import { takenBadly } from './bad-photographs.ts';
import { DOCUMENT_KINDS, type DocumentKind, drawDocument } from './document-pictures.ts';
import { heldOutSet, readTruth, type Truth } from './evaluate-held-out-set.ts';
import type { ReadValue, Shown } from './evaluate-score.ts';
import { drawLicense, LICENSE_KINDS, type LicenseKind } from './license-pictures.ts';
import { drawPlate } from './plate-pictures.ts';
import { drawVin, oneOf, type Random, randomFrom, VIN_KINDS, type VinKind } from './print-pictures.ts';
import { type DrawnTire, drawArc, drawTire, drawWheel } from './tire-pictures.ts';

export interface Case {
  jpeg: Buffer;
  shown: readonly Shown[];
  /** All that a drawn cluster shows. */
  cluster?: Truth | undefined;
}

export interface PictureSet {
  name: string;
  source: 'drawings' | 'photographs';
  /** Drawn or read when they are asked for. */
  cases: () => Promise<Case[]>;
}

export interface SetOptions {
  seed: number;
  /** Drawings of each kind. */
  count: number;
  /** Drawings of all kinds that are made as bad photographs show them. */
  bad: number;
  /** Folder of photographs: see docs/models.md. */
  photographs?: string | undefined;
  /** Whether to render clusters with Python, beside the four that come along. */
  clusters: boolean;
}

export interface EvaluatedEndpoint {
  contract: EndpointContract;
  /** Names of which a picture may show several values. */
  several: ReadonlySet<string>;
  /** For photographs whose labels do not tell such characters apart: counted both ways. */
  alike?: { name: string; fold: (text: string) => string };
  /** Names whose confidence is that of print, for calibration; all by default. */
  isPrint?: (name: string) => boolean;
  sets: (options: SetOptions) => Promise<PictureSet[]>;
  readings: (result: unknown) => ReadValue[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const EXAMPLES = join(root, 'training', 'examples');
/** Arc of the tire that a size and its service description span; beyond 100 degrees with brand and DOT code. */
const ARCS_DEGREES = [10, 30, 60, 90, 180, 300];
/** Parts of a wheel that are shown. */
const WHEELS_DEGREES = [60, 120, 180, 360];
/** Drawings of one kind never share a seed with those of another. */
const SEEDS_APART = 1_000_000;

function drawings(name: string, place: number, { seed, count }: SetOptions, draw: Draw): PictureSet {
  return {
    name,
    source: 'drawings',
    cases: async () => {
      const drawn: Case[] = [];
      for (let index = 0; index < count; index += 1)
        drawn.push(await draw(randomFrom(seed + SEEDS_APART * place + index)));
      return drawn;
    },
  };
}

type Draw = (random: Random) => Promise<Case>;

/** As bad photographs show them. */
const badPhotographs = (options: SetOptions, draw: Draw) =>
  drawings('taken badly', 21, { ...options, count: options.bad }, async (random) => {
    const { jpeg, ...rest } = await draw(random);
    return { jpeg: await takenBadly(jpeg, random), ...rest };
  });

/** Print that is none of what an endpoint reads: seventeen characters on a plate behind a windscreen. */
const otherPrint = (options: SetOptions) =>
  drawings('other print', 20, { ...options, count: Math.ceil(options.count / 4) }, async (random) => ({
    jpeg: (await drawVin('windscreen', random)).jpeg,
    shown: [],
  }));

const bare = (text: string) => text.replaceAll(' ', '');

const dashboard: EvaluatedEndpoint = {
  contract: dashboardRead,
  several: new Set(),
  sets: async (options) => {
    const clusters = async (folder: string, name: string): Promise<PictureSet> => {
      const truths = await readTruth(folder);
      const files = truths.map((cluster) => ({
        file: cluster.file,
        shown: odometerOf(cluster.odometer?.value),
        cluster,
      }));
      return { name, source: 'drawings', cases: () => filesOf(folder, files) };
    };
    const { photographs } = options;
    const drawn = [
      ...(options.count > 0 ? [await clusters(EXAMPLES, 'examples')] : []),
      ...(options.clusters ? [await clusters(await heldOutClusters(options), 'clusters held out of training')] : []),
    ];
    const all = options.bad > 0 ? (await Promise.all(drawn.map(({ cases }) => cases()))).flat() : [];
    return [
      ...drawn,
      // Of a bad picture only the odometer counts.
      ...(all.length > 0
        ? [badPhotographs(options, async (random) => ({ ...oneOf(random, all), cluster: undefined }))]
        : []),
      otherPrint(options),
      ...(photographs
        ? [await photographsIn(photographs, 'dashboards', (truth: { value: number | null }) => odometerOf(truth.value))]
        : []),
    ];
  },
  readings: (result) => {
    const { odometer } = result as DashboardResult;
    return odometer ? [{ name: 'odometer', text: String(odometer.value), confidence: odometer.confidence }] : [];
  },
};

/** The Python generator's pictures; see evaluate-held-out-set.ts. */
export function heldOutClusters({ seed, count }: Pick<SetOptions, 'seed' | 'count'>): Promise<string> {
  return heldOutSet(root, join(root, 'training', '.cache'), seed, count);
}

function odometerOf(value: number | null | undefined): Shown[] {
  if (value === null || value === undefined) return [];
  const text = String(value);
  // Drums show zeros in front.
  return [{ name: 'odometer', text, printed: [text, ...[5, 6, 7].map((length) => text.padStart(length, '0'))] }];
}

const plate: EvaluatedEndpoint = {
  contract: plateRead,
  several: new Set(['plate']),
  alike: { name: 'O = 0, I = 1', fold: (text) => text.replaceAll('O', '0').replaceAll('I', '1') },
  sets: async (options) => {
    const of = (...texts: readonly string[]) => texts.map((text) => ({ name: 'plate', text }));
    const { photographs } = options;
    const read = (truth: readonly { text: string }[]) => of(...truth.map(({ text }) => text));
    const draw: Draw = async (random) => {
      const { jpeg, text } = await drawPlate(random);
      return { jpeg, shown: of(text) };
    };
    return [
      drawings('plates', 0, options, draw),
      badPhotographs(options, draw),
      otherPrint(options),
      ...(photographs
        ? [await photographsIn(photographs, 'plates/eu', read), await photographsIn(photographs, 'plates/us', read)]
        : []),
    ];
  },
  readings: (result) =>
    (result as PlateResult).plates.flatMap(({ text, confidence }) =>
      text === null ? [] : [{ name: 'plate', text, confidence }],
    ),
};

const vin: EvaluatedEndpoint = {
  contract: vinRead,
  several: new Set(),
  sets: async (options) => {
    const draw = (kind: VinKind) => async (random: Random) => {
      const { jpeg, vin: text } = await drawVin(kind, random);
      return { jpeg, shown: text === null ? [] : [{ name: 'vin', text }] };
    };
    return [
      ...VIN_KINDS.map((kind, place) => drawings(kind.replaceAll('_', ' '), place, options, draw(kind))),
      badPhotographs(options, (random) => draw(oneOf(random, VIN_KINDS))(random)),
    ];
  },
  readings: (result) => {
    const { vin: read } = result as VinResult;
    return read ? [{ name: 'vin', text: read.text, confidence: read.confidence }] : [];
  },
};

/** As printed on the drawings. */
const PRINTED_MARKS: Readonly<Record<string, string>> = {
  'M+S': 'mud_and_snow',
  TUBELESS: 'tubeless',
  XL: 'extra_load',
};

const tire: EvaluatedEndpoint = {
  contract: tireRead,
  several: new Set(['marks']),
  sets: async (options) => {
    const sizeOf = ({ size, loadIndex, speedIndex }: { size: string; loadIndex: number; speedIndex: string }) => {
      const printed = [`${loadIndex}${speedIndex}`];
      return [
        { name: 'size', text: bare(size) },
        { name: 'load index', text: String(loadIndex), printed },
        { name: 'speed index', text: speedIndex, printed },
      ];
    };
    const wholeOf = ({ jpeg, dot, brand, marks, ...rest }: DrawnTire) => ({
      jpeg,
      shown: [
        ...sizeOf(rest),
        { name: 'DOT', text: bare(dot) },
        { name: 'brand', text: brand },
        ...marks.map((mark) => ({ name: 'marks', text: PRINTED_MARKS[mark] ?? mark, printed: [mark] })),
      ],
    });
    const straight: Draw = async (random) => wholeOf(await drawTire(random));
    const arc = (span: number) => async (random: Random) => {
      const { jpeg, ...rest } = await drawArc(random, span);
      return { jpeg, shown: sizeOf(rest) };
    };
    const wheel = (shown: number) => async (random: Random) => wholeOf(await drawWheel(random, shown));
    const any = [straight, ...ARCS_DEGREES.map(arc), ...WHEELS_DEGREES.map(wheel)];
    return [
      drawings('straight rows', 0, options, straight),
      ...ARCS_DEGREES.map((span, place) => drawings(`arc of ${span} degrees`, 1 + place, options, arc(span))),
      ...WHEELS_DEGREES.map((shown, place) => drawings(`wheel, ${shown} degrees`, 10 + place, options, wheel(shown))),
      badPhotographs(options, (random) => oneOf(random, any)(random)),
      otherPrint(options),
    ];
  },
  readings: (result) => {
    const { size, load_index, speed_index, dot, brand, marks } = result as TireResult;
    const read = (name: string, text: string | undefined, found: { confidence: number } | null) =>
      text !== undefined && found ? [{ name, text: bare(text), confidence: found.confidence }] : [];
    return [
      ...read('size', size?.text, size),
      ...read('load index', load_index?.value.toString(), load_index),
      ...read('speed index', speed_index?.value, speed_index),
      ...read('DOT', dot?.text, dot),
      ...read('brand', brand?.value, brand),
      ...marks.flatMap((each) => read('marks', each.mark, each)),
    ];
  },
};

/** Inferred from all print, with confidences of their own. */
const CLASSIFIED = new Set(['document_type', 'country']);

const document: EvaluatedEndpoint = {
  contract: documentRead,
  several: new Set(),
  isPrint: (name) => !CLASSIFIED.has(name),
  sets: async (options) => {
    const draw = (kind: DocumentKind) => async (random: Random) => {
      const { jpeg, type, country, fields } = await drawDocument(kind, random);
      const shown = [
        { name: 'document_type', text: type, printed: [] },
        ...(country === null ? [] : [{ name: 'country', text: country, printed: [] }]),
        ...fields.map(({ name, value }) => withForms(name, String(value))),
      ];
      return { jpeg, shown };
    };
    return [
      ...DOCUMENT_KINDS.map((kind, place) => drawings(kind, place, options, draw(kind))),
      badPhotographs(options, (random) => draw(oneOf(random, DOCUMENT_KINDS))(random)),
      otherPrint(options),
    ];
  },
  readings: (result) => {
    const { document_type, country, fields } = result as DocumentResult;
    return [
      ...(document_type
        ? [{ name: 'document_type', text: document_type.value, confidence: document_type.confidence }]
        : []),
      ...(country ? [{ name: 'country', text: country.value, confidence: country.confidence }] : []),
      ...fields.map(({ name, value, confidence }) => ({ name, text: String(value), confidence })),
    ];
  },
};

/** A date with the orders in which it may be printed. */
function withForms(name: string, text: string): Shown {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (!year || !month || !day) return { name, text };
  return { name, text, printed: [`${day}${month}${year}`, `${month}${day}${year}`, `${year}${month}${day}`] };
}

/** Abbreviated, or printed in two lines. */
const IN_NO_LINE = new Set(['sex', 'address']);

const license: EvaluatedEndpoint = {
  contract: driverLicenseRead,
  several: new Set(),
  sets: async (options) => {
    const draw = (kind: LicenseKind) => async (random: Random) => {
      const { jpeg, fields } = await drawLicense(kind, random);
      const isCoded = kind === 'back US';
      const shown = fields.map(({ name, value }) =>
        isCoded || IN_NO_LINE.has(name) ? { name, text: value, printed: [] } : withForms(name, value),
      );
      return { jpeg, shown };
    };
    return [
      ...LICENSE_KINDS.map((kind, place) => drawings(kind, place, options, draw(kind))),
      badPhotographs(options, (random) => draw(oneOf(random, LICENSE_KINDS))(random)),
      otherPrint(options),
    ];
  },
  readings: (result) => {
    const { holder, license: found } = result as LicenseResult;
    const { is_expired: _, ...dated } = found ?? { is_expired: null };
    return Object.entries({ ...holder, ...dated }).flatMap(([name, reading]) =>
      reading ? [{ name, text: reading.value, confidence: reading.confidence }] : [],
    );
  },
};

export const EVALUATED: readonly EvaluatedEndpoint[] = [dashboard, plate, vin, tire, document, license];

async function photographsIn<Truth>(
  folder: string,
  name: string,
  shownOf: (truth: Truth) => Shown[],
): Promise<PictureSet> {
  const truths = JSON.parse(await readFile(join(folder, name, 'truth.json'), 'utf8')) as Record<string, Truth>;
  const files = Object.entries(truths).map(([file, truth]) => ({ file, shown: shownOf(truth) }));
  return { name, source: 'photographs', cases: () => filesOf(join(folder, name, 'images'), files) };
}

function filesOf(folder: string, files: readonly (Omit<Case, 'jpeg'> & { file: string })[]): Promise<Case[]> {
  return Promise.all(files.map(async ({ file, ...rest }) => ({ jpeg: await readFile(join(folder, file)), ...rest })));
}
