/** Number plates among lines of print: whose format they have, and what is none. */
import { expect, test } from 'vitest';
import { findPlates } from '../../../src/endpoints/plate.read/find-plates.ts';
import type { PrintedLine } from '../../../src/inference/toolkit/text/text-lines.ts';
import { printedAt, type Said, spelt } from '../../inference/support/print-saying.ts';

/** A line's characters are half as wide as high, as on a plate. Further cuts show the same, unless a test says what. */
const find = (lines: readonly PrintedLine[], again: PrintedLine[] = []) => findPlates(lines, async () => again, null);
const shown = (text: string, probability?: number) => [printedAt(10, 10, spelt(text, probability))];
const textOf = async (...lines: PrintedLine[]) => (await find(lines)).map(({ text }) => text);
const countryOf = async (text: string, hint: string | null = null) =>
  (await findPlates(shown(text), async () => [], hint)).map(({ country, region }) => [country?.value, region?.value]);
/** The text, some of its characters with what else the network considers. */
const doubtful = (text: string, others: Record<number, Said>): Said[] =>
  spelt(text).map((said, at) => others[at] ?? said);

test.each([
  ['AT', 'W-12345A', 'W12345A'],
  ['BE', '1-ABC-234', '1ABC234'],
  ['BG', 'CB 1234 AB', 'CB1234AB'],
  ['CH', 'ZH 123456', 'ZH123456'],
  ['CZ', '1T4:3213', '1T43213'],
  ['CZ old', 'BZM:22-27', 'BZM2227'],
  ['DE', 'M-AB 1234', 'MAB1234'],
  ['DE short', 'F:WE50', 'FWE50'],
  ['DE electric', 'HH-AB 123E', 'HHAB123E'],
  ['DE with a leading zero', 'HH-AB 0123', null],
  ['DK', 'AB 12 345', 'AB12345'],
  ['EE', '123 ABC', '123ABC'],
  ['ES', '1234 BCD', '1234BCD'],
  ['FI, HU, LT', 'ABC-123', 'ABC123'],
  ['FR', 'AB-123-CD', 'AB123CD'],
  ['GB', 'AB12 CDE', 'AB12CDE'],
  ['GR', 'IKA-1234', 'IKA1234'],
  ['HR', 'ZG 1234-AB', 'ZG1234AB'],
  ['HU since 2022', 'AA AB-123', 'AAAB123'],
  ['IE', '12-D-12345', '12D12345'],
  ['IT', 'AB 123CD', 'AB123CD'],
  ['LV', 'AB-1234', 'AB1234'],
  ['NL', '12-ABC-3', null],
  ['NL without vowels', '12-XBC-3', null],
  ['NL sidecode 7', '12-XBD-3', '12XBD3'],
  ['NO', 'BS 47040', 'BS47040'],
  ['PL', 'WA 56660', 'WA56660'],
  ['PT', '12-AB-34', '12AB34'],
  ['RO', 'IF 10 KAX', 'IF10KAX'],
  ['RO provisional', 'SB 014882', 'SB014882'],
  ['SE', 'ABC 12D', 'ABC12D'],
  ['SI', 'LJ AB-123', 'LJAB123'],
  ['SK', 'RK-755AJ', 'RK755AJ'],
  ['California', '7AHN739', '7AHN739'],
  ['California, commercial', '47366J1', '47366J1'],
  ['Illinois', 'R10 7555', 'R107555'],
  ['Missouri', 'UF2=V5S', 'UF2V5S'],
  ['New York, Ohio, Texas', 'EAZ-6913', 'EAZ6913'],
  ['Texas, older', 'DD4-C591', 'DD4C591'],
  ['British Columbia', 'AB1 23C', 'AB123C'],
  ['Ontario', 'CABC 123', 'CABC123'],
  ['Québec', 'E12 ABC', 'E12ABC'],
])('a plate of the format %s, printed as "%s", is read as %s', async (_, printed, text) => {
  expect(await textOf(...shown(printed))).toEqual(text === null ? [] : [text]);
});

test.each([
  ['a date', '2014-05-13'],
  ['a time stamp', '2014-05-13 08:50:27'],
  ['a time', '08:50:27'],
  ['a model', 'EXPLORER'],
  ['a model with a number', 'BMW320'],
  ['a model with few characters', 'XC90'],
  ['a telephone number', '314-845-5900'],
  ['digits alone', '1366026'],
  ['letters alone', 'FZ RULZ'],
  ['a number chosen by its owner', 'KCS1M'],
  ['a distance', '1/4 MILE'],
  ['an exit', 'EXIT 79B'],
  ['an address', 'www.example.com'],
  ['small letters', 'abc 123'],
  ['a long line', 'AB12 CDE 4567 890'],
])('%s is no plate: "%s"', async (_, printed) => {
  expect(await textOf(...shown(printed))).toEqual([]);
});

test('letters set wide apart are a badge, not a plate', async () => {
  expect(await textOf(printedAt(10, 10, spelt('ABC-123'), 1))).toEqual([]);
});

test.each([
  ['BA3020Z', 'BA302OZ'],
  ['RK-708A1', 'RK708AI'],
  ['UH1-FOF', 'UH1F0F'],
  ['5LOD951', '5LOD951'],
  ['CJI-P5G', 'CJ1P5G'],
])('O and 0, I and 1 follow the place in the format: "%s" is %s', async (printed, text) => {
  expect(await textOf(...shown(printed))).toEqual([text]);
});

test('a character that the network considers is preferred to one that merely looks alike', async () => {
  const said = doubtful('FK2X22', { 5: { character: '2', probability: 0.6, others: { Z: 0.38 } } });
  const [plate] = await find([printedAt(10, 10, said)]);
  expect(plate?.text).toBe('FK2X2Z');
  expect(plate?.confidences[5]).toBeCloseTo(0.38);
});

test('a character of the same shape keeps its confidence, once the format excludes the other', async () => {
  const [plate] = await find([
    printedAt(10, 10, doubtful('UH1-FOF', { 5: { character: 'O', probability: 0.7, others: { '0': 0.2 } } })),
  ]);
  expect(plate?.confidences[4]).toBeCloseTo(0.9);
});

test('plate.read drops an emblem between the groups and the edge of a plate before them', async () => {
  const emblem = doubtful('FE5WR2D', { 3: { character: 'W', probability: 0.5, others: {} } });
  const edge = doubtful('NBY:649AG', { 0: { character: 'N', probability: 0.4, others: {} } });
  expect(await textOf(printedAt(10, 10, emblem))).toEqual(['FE5R2D']);
  expect(await textOf(printedAt(10, 10, edge))).toEqual(['BY649AG']);
});

test('the letters of a band are not part of the number and tell the country', async () => {
  const [plate] = await find(shown('SK RK-755AJ'));
  expect(plate).toMatchObject({ text: 'RK755AJ', country: { value: 'SK' } });
  expect(plate?.quad[0].x).toBe(13);
  const beside = await find([printedAt(10, 10, spelt('RK-755AJ')), printedAt(7, 11, spelt('SK'), 1)]);
  expect(beside).toMatchObject([{ text: 'RK755AJ', country: { value: 'SK', confidence: 0.9 } }]);
});

test('the name of a state tells the region, and proves a number of digits alone', async () => {
  const texas = printedAt(11, 8.5, spelt('TEXAS', 0.95), 1);
  expect(await find([printedAt(10, 10, spelt('CWW-2245')), texas])).toMatchObject([
    { text: 'CWW2245', country: { value: 'US', confidence: 0.95 }, region: { value: 'US-TX', confidence: 0.95 } },
  ]);
  const exempt = printedAt(10.5, 12.2, spelt('CA EXEMPT').slice(0, 9), 1).characters.map((each, index) => ({
    ...each,
    quad: printedAt(10, 12.2, spelt('1'), 1).characters[0]?.quad ?? each.quad,
    index,
  }));
  const legend = { quad: printedAt(11, 12.2, spelt('12345'), 1).quad, characters: exempt };
  expect(await textOf(printedAt(10, 10, spelt('1366026')), legend)).toEqual(['1366026']);
});

test.each([
  ['IF 10 KAX', ['RO', 'RO-IF']],
  ['UF2=V5S', ['US', 'US-MO']],
  ['7AHN739', ['US', 'US-CA']],
  ['1T4:3213', ['CZ', undefined]],
  ['ABC-123', [undefined, undefined]],
  ['EAZ-6913', [undefined, undefined]],
])('a format tells country and region only if no other has it: "%s"', async (printed, origin) => {
  expect(await countryOf(printed)).toEqual([origin]);
});

test('a hint decides between countries of one format and overrides none', async () => {
  expect(await countryOf('ABC-123', 'HU')).toEqual([['HU', undefined]]);
  expect(await countryOf('ABC-123', 'IT')).toEqual([[undefined, undefined]]);
  expect(await countryOf('UF2=V5S', 'FR')).toEqual([['US', 'US-MO']]);
});

test('plate.read joins the two lines of a square plate', async () => {
  const [plate, ...more] = await find([printedAt(10, 10, spelt('B-21')), printedAt(10, 12.5, spelt('GSB'))]);
  expect(more).toEqual([]);
  expect(plate?.text).toBe('B21GSB');
  expect(plate?.quad[3].y).toBeCloseTo(14.5);
});

test('plate.read lists several plates, the largest first', async () => {
  const lines = [
    printedAt(10, 40, spelt('B 21 GSB')),
    printedAt(10, 10, spelt('SB 90 TZI'), 3),
    printedAt(10, 60, spelt('EXPLORER')),
  ];
  expect(await textOf(...lines)).toEqual(['SB90TZI', 'B21GSB']);
});

test('plate.read takes the number that most cuts show, and omits what only one shows', async () => {
  const first = printedAt(10, 10, spelt('TG4L2M', 0.6));
  const again = ['WG4L2M', 'WG4 L2M', 'WG4L2M'].map((text) => printedAt(10, 10, spelt(text)));
  expect(await find([first], again)).toMatchObject([{ text: 'WG4L2M' }]);
  const unlike = ['EEOAVEZ', 'ZEAVO', 'LIDL'].map((text) => printedAt(10, 10, spelt(text)));
  expect(await find([first], unlike)).toEqual([]);
});

test('plate.read omits a number with a character that is a guess', async () => {
  expect(await textOf(...shown('RK-755AJ', 0.25))).toEqual([]);
});
