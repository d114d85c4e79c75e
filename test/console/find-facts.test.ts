/** What the console says in words about the results of every endpoint. */
import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { AMOUNTS, type Fact, findFacts } from '../../console/src/find-facts.ts';
import { MONEY_MINOR_UNITS } from '../../src/contracts/vocabulary/schemas.ts';
import { endpoints } from '../../src/endpoints/list.ts';
import { PROJECT_DIRECTORY } from '../support/processes.ts';

const fixtures = globSync('src/endpoints/*/fixtures/default.json', { cwd: PROJECT_DIRECTORY }).toSorted();

/** In the machine's language, as the console writes in that of its reader. */
const said = (value: number) => value.toLocaleString();

const linesOf = (facts: readonly Fact[]): string[] =>
  facts.flatMap(({ name, text, facts: below }) => [`${name}: ${text}`, ...linesOf(below)]);

it.each(fixtures)('the facts say something about %s, and nothing that is not text', (path) => {
  const lines = linesOf(findFacts(JSON.parse(readFileSync(PROJECT_DIRECTORY + path, 'utf8'))));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).not.toMatch(/undefined|NaN|\[object|[{}]|\bbbox\b|polygon|^: $/);
});

it('the facts say make, model and colour of a vehicle, with how sure the result is', () => {
  const facts = findFacts({
    make: { value: 'Talvera', confidence: 0.97 },
    candidates: [
      { make: 'Talvera', model: 'Lumo', generation: 'II', year_from: 2021, year_to: null, confidence: 0.91 },
    ],
    color: { value: 'green', hex: '#2f6b4f', finish: 'solid', confidence: 0.95 },
    sightings: [{ image_index: 0, view: 'rear', confidence: 0.98, bbox: { x: 1, y: 1, width: 1, height: 1 } }],
    same_vehicle: null,
  });
  expect(facts).toMatchObject([
    { name: 'make', text: 'Talvera', confidence: 0.97 },
    { name: `candidates (${said(1)})`, facts: [{ text: 'Talvera Lumo II; year from 2021', confidence: 0.91 }] },
    { name: 'color', text: 'green; finish solid', confidence: 0.95 },
    { name: `sightings (${said(1)})`, facts: [{ text: 'view rear', confidence: 0.98 }] },
    { name: 'same vehicle', text: '–' },
  ]);
});

it('the facts say units, shares and money as people write them, and how many items they leave to the JSON', () => {
  const facts = findFacts({
    odometer: { value: 261_645, unit: 'km', confidence: 0.9 },
    width_mm: 205,
    area_fraction: 0.142,
    load_index: { value: 91, confidence: 0.9 },
    is_cut_off: false,
    parts: Array.from({ length: 10 }, (_, index) => ({ part: 'front_wheel', side: index === 0 ? 'left' : 'right' })),
    price: { currency: 'JPY', net: 1_000, gross: 1_190, lines: 3 },
  });
  const yen = (value: number) => value.toLocaleString(undefined, { style: 'currency', currency: 'JPY' });
  expect(linesOf(facts)).toEqual([
    `odometer: ${said(261_645)} km`,
    `width: ${said(205)} mm`,
    `area: ${said(14.2)} %`,
    `load index: ${said(91)}`,
    'cut off: no',
    `parts (${said(10)}): `,
    ': front wheel, left',
    ...Array<string>(7).fill(': front wheel, right'),
    `: and ${said(2)} more in the JSON`,
    `price: currency JPY; net ${yen(1_000)}; gross ${yen(1_190)}; lines ${said(3)}`,
  ]);
});

interface Schema {
  type?: unknown;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

/** Every integer at or below an object that states its currency: its name, and whether the contract calls it an amount. */
function integersOf(schema: Schema, hasCurrency = false): [string, boolean][] {
  const { properties = {}, items, anyOf = [] } = schema;
  const states = hasCurrency || 'currency' in properties;
  const here = Object.entries(properties).flatMap(([name, field]): [string, boolean][] => {
    const given = [field, ...(field.anyOf ?? [])].filter(({ type }) => type === 'integer');
    return states ? given.map(({ description = '' }) => [name, description.includes(MONEY_MINOR_UNITS)]) : [];
  });
  const below = [...Object.values(properties), ...(items ? [items] : []), ...anyOf];
  return [...here, ...below.flatMap((one) => integersOf(one, states))];
}

it.each(endpoints.map(({ slug, result }) => [slug, result as unknown as Schema] as const))(
  'the list of amounts holds exactly the amounts of money in the results of %s',
  (_slug, result) => {
    for (const [name, isAmount] of integersOf(result)) expect([name, AMOUNTS.has(name)]).toEqual([name, isAmount]);
  },
);
