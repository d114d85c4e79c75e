/** Sidewall notations, and texts that are not. */
import { describe, expect, test } from 'vitest';
import {
  findBrand,
  findDot,
  findMarks,
  findSeason,
  serviceAt,
  tinPartsOf,
} from '../../../src/endpoints/tire.read/sidewall-text.ts';
import { findLikeSize, findSize } from '../../../src/endpoints/tire.read/size-text.ts';

describe('the size', () => {
  const size = (text: string) => {
    const found = findSize(text);
    if (!found) return null;
    const { service, widthMm, aspectRatio, construction, rimInches } = found;
    return [found.text, service, widthMm, aspectRatio, construction, rimInches];
  };

  test.each([
    ['205/55 R16', ['205/55 R16', 'euro_metric', 205, 55, 'radial', 16]],
    ['205/55R16 91V', ['205/55 R16', 'euro_metric', 205, 55, 'radial', 16]],
    ['185/60R16121S', ['185/60 R16', 'euro_metric', 185, 60, 'radial', 16]],
    ['P215/65R15', ['P215/65 R15', 'passenger', 215, 65, 'radial', 15]],
    ['P 215 / 65 R 15', ['P215/65 R15', 'passenger', 215, 65, 'radial', 15]],
    ['LT265/70R17 112/110R', ['LT265/70 R17', 'light_truck', 265, 70, 'radial', 17]],
    ['LT175/65R18104T', ['LT175/65 R18', 'light_truck', 175, 65, 'radial', 18]],
    ['225/45ZR17', ['225/45 ZR17', 'euro_metric', 225, 45, 'radial', 17]],
    ['225/45RF17', ['225/45 RF17', 'euro_metric', 225, 45, 'radial', 17]],
    ['195/70R15C 104/102R', ['195/70 R15C', 'commercial', 195, 70, 'radial', 15]],
    ['195/70 R 15 C104/102R', ['195/70 R15C', 'commercial', 195, 70, 'radial', 15]],
    ['215/60R17CP', ['215/60 R17CP', 'commercial', 215, 60, 'radial', 17]],
    ['T125/70D16', ['T125/70 D16', 'temporary_spare', 125, 70, 'diagonal', 16]],
    ['T155/90 R17', ['T155/90 R17', 'temporary_spare', 155, 90, 'radial', 17]],
    ['HL275/35R21', ['HL275/35 R21', 'euro_metric', 275, 35, 'radial', 21]],
    ['265/70R19.5', ['265/70 R19.5', 'euro_metric', 265, 70, 'radial', 19.5]],
    ['195/60B15', ['195/60 B15', 'euro_metric', 195, 60, 'bias_belted', 15]],
    ['120/70-17', ['120/70-17', 'euro_metric', 120, 70, 'diagonal', 17]],
    ['185/82R14', ['185/82 R14', 'euro_metric', 185, 82, 'radial', 14]],
    ['185R14C', ['185 R14C', 'commercial', 185, null, 'radial', 14]],
    ['165 R 13', ['165 R13', 'euro_metric', 165, null, 'radial', 13]],
    ['RADIAL TUBELESS 205/55 R16 M+S', ['205/55 R16', 'euro_metric', 205, 55, 'radial', 16]],
    ['31X10.50R15LT', ['31x10.50 R15LT', 'light_truck', 267, null, 'radial', 15]],
    ['35 X 12.50 R 17 LT 121Q', ['35x12.50 R17LT', 'light_truck', 318, null, 'radial', 17]],
  ])('a size is read from "%s"', (text, expected) => {
    expect(size(text)).toEqual(expected);
  });

  test.each([
    ['a letter in a number', '2O5/55R16'],
    ['a width that is no nominal one', '207/55R16'],
    ['a width of nothing', '005/55R16'],
    ['an impossible ratio', '205/57R16'],
    ['an impossible rim', '205/55R61'],
    ['no construction', '205/55 16'],
    ['a flotation size whose rim is larger than the tire', '24X10.50R30LT'],
    ['a fraction', 'E4 0212345/70'],
    ['a date', '05/18'],
    ['more digits before it', '1205/55R16'],
    ['a letter of no known service before it', 'ST205/75R15'],
    ['a load', 'MAX LOAD 615 KG 1356 LBS'],
  ])('%s is no size: "%s"', (_, text) => {
    expect(size(text)).toBeNull();
  });

  test.each([
    ['P245145R16 121V', { digits: '2454516', slash: '1', gaps: '' }],
    ['205 I55 R16', { digits: '2055516', slash: 'I', gaps: ' ' }],
    ['2O5/SSR16', { digits: '2O5SS16', slash: '/', gaps: '' }],
    ['195755-R-16', { digits: '1955516', slash: '7', gaps: '--' }],
    ['205155', null],
    ['1205155R16', null],
    ['205/55 16', null],
  ])('a text may look like a size with misread characters: "%s"', (text, expected) => {
    const like = findLikeSize(text);
    const spelt = (places: readonly number[]) => places.map((place) => text.charAt(place)).join('');
    expect(like && { digits: spelt(like.digits), slash: text.charAt(like.slash), gaps: spelt(like.gaps) }).toEqual(
      expected,
    );
  });

  test('a size has its span and the meaning of RF and ZR', () => {
    expect(findSize('SIZE 225/45 ZR17 91W')).toMatchObject({ start: 5, end: 16, isZr: true, isRunFlat: false });
    expect(findSize('225/45RF17')).toMatchObject({ isZr: false, isRunFlat: true });
  });
});

describe('load index and speed symbol', () => {
  test.each([
    [' 91V', 91, null, 'V'],
    ['91V', 91, null, 'V'],
    [' 91 V', 91, null, 'V'],
    [' 112/110R', 112, 110, 'R'],
    [' 104/102 R', 104, 102, 'R'],
    [' 98H XL', 98, null, 'H'],
    [' 95Y', 95, null, 'Y'],
    [' (95Y)', 95, null, '(Y)'],
    ['(95W)', 95, null, 'W'],
  ])('load index and speed symbol are read from "%s" after a size', (text, value, dualValue, speed) => {
    const service = serviceAt(`205/55R16${text}`, 9, { isAlone: false });
    expect(service?.load).toMatchObject({ value, dualValue });
    expect(service?.speed.value).toBe(speed);
  });

  test.each(['', ' 91', ' V', ' 91O', ' 91X', ' 300V', ' 9V', ' 91/300V', ' TUBELESS'])(
    'load index and speed symbol are not found in "%s" after a size',
    (text) => {
      expect(serviceAt(text, 0, { isAlone: false })).toBeNull();
    },
  );

  test.each([
    ['91V', true],
    ['91V XL', true],
    ['91V M+S', true],
    ['44 PSI', false],
    ['91V 2319', false],
    ['50 STEEL', false],
  ])('load index and speed symbol count in a row of their own: "%s" → %s', (text, isService) => {
    expect(serviceAt(text, 0, { isAlone: true }) !== null).toBe(isService);
  });

  test('load index and speed symbol have their spans', () => {
    const service = serviceAt('205/55R16 (104/102 Y)', 9, { isAlone: false });
    expect(service?.load).toMatchObject({ start: 11, end: 18 });
    expect(service?.speed).toMatchObject({ start: 19, end: 20, value: '(Y)' });
  });
});

describe('the tire identification number', () => {
  test.each([
    ['DOT 7V4K HR2X 2319', ['7V4K', 'HR2X', '2319']],
    ['DOT7V4KHR2X2319', ['7V4KHR2X2319']],
    ['E4 DOT B6B 13YUML 2816', ['B6B', '13YUML', '2816']],
    ['D0T 7V4K', ['7V4K']],
    ['DOT', []],
  ])('the tire identification number has the groups of "%s"', (text, groups) => {
    expect(findDot(text)?.groups.map(({ start, end }) => text.slice(start, end))).toEqual(groups);
  });

  test.each(['PLYDOT 7V4K', 'DOUBLE', '1DOT 7V4K', ''])('no tire identification number is found in "%s"', (text) => {
    expect(findDot(text)).toBeNull();
  });

  const parts = (
    plantCode: string,
    sizeCode: string | null,
    optionCode: string | null,
    week?: number,
    year?: number,
  ) => ({
    plantCode,
    sizeCode,
    optionCode,
    week: week ?? null,
    year: year ?? null,
  });

  test.each([
    // Before 2015: two symbols for the plant, two for the size, up to four of the manufacturer.
    ['7V4KHR2X2319', parts('7V', '4K', 'HR2X', 23, 2019)],
    ['7V4K2319', parts('7V', '4K', null, 23, 2019)],
    ['7V4KH0100', parts('7V', '4K', 'H', 1, 2000)],
    ['7V4KHR2X', parts('7V', '4K', 'HR2X')],
    ['7V4K', parts('7V', '4K', null)],
    // Since 2015: three for the plant, six of the manufacturer.
    ['B6B13YUML2816', parts('B6B', null, '13YUML', 28, 2016)],
    ['B6B13YUML', parts('B6B', null, '13YUML')],
    // Retreaded: the plant and the date.
    ['B6B2816', parts('B6B', null, null, 28, 2016)],
    // 0019 and 5419 have no valid week.
    ['7V4K0019', parts('7V', '4K', '0019')],
    ['7V4K5419', parts('7V', '4K', '5419')],
  ])('the tire identification number %s is taken apart', (symbols, expected) => {
    expect(tinPartsOf(symbols)).toEqual(expected);
  });

  test.each(['', '7V4', '7V4KHR2X23', 'B6B13YUML5419', 'B6B13YUML28160', '7V4KHR2X5419'])(
    '"%s" is no tire identification number',
    (symbols) => {
      expect(tinPartsOf(symbols)).toBeNull();
    },
  );
});

test.each([
  ['M+S', ['mud_and_snow']],
  ['M + S', ['mud_and_snow']],
  ['M&S', ['mud_and_snow']],
  ['M/S', ['mud_and_snow']],
  ['TUBELESSM+S', ['mud_and_snow', 'tubeless']],
  ['91V XL', ['extra_load']],
  ['91VXL', ['extra_load']],
  ['RADIALXL', ['extra_load']],
  ['EXTRA LOAD', ['extra_load']],
  ['REINFORCED', ['extra_load']],
  ['RUN FLAT', ['run_flat']],
  ['RFT', ['run_flat']],
  ['RADIAL TUBELESS', ['tubeless']],
  ['OUTSIDE', ['outside']],
  ['SIDE FACING INWARDS', ['inside']],
  ['<- ROTATION', ['rotation']],
  ['MS 2XL4 PXL RADIAL', []],
])('"%s" bears the marks %j', (text, marks) => {
  expect(findMarks(text).map(({ mark }) => mark)).toEqual(marks);
});

test.each([
  ['ALL SEASON', 'all_season'],
  ['ALL-SEASONS', 'all_season'],
  ['WINTER RADIAL', 'winter'],
  ['SUMMER', 'summer'],
  ['M+S', undefined],
  ['MIDWINTER', undefined],
])('"%s" names the season %s', (text, season) => {
  expect(findSeason(text)?.season).toBe(season);
});

test.each([
  ['MICHELIN', 'MICHELIN'],
  ['  PIRELLI P7', 'PIRELLI'],
  ['MICHELINPRIMACY', undefined],
  ['NORDVIK', undefined],
])('"%s" names the make %s', (text, brand) => {
  expect(findBrand(text)?.brand).toBe(brand);
});
