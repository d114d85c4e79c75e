import { expect, test } from 'vitest';
import {
  findBadges,
  identityOf,
  identityOfPictures,
  isOfMake,
  statedBy,
} from '../../../src/endpoints/vehicle.identify/lettering.ts';
import { LEXICON } from '../../../src/endpoints/vehicle.identify/lexicon.ts';
import type { PrintedLine } from '../../../src/inference/toolkit/text/text-lines.ts';

function printed(text: string, probability = 0.9): PrintedLine {
  const quad: PrintedLine['quad'] = [
    { x: 10, y: 20 },
    { x: 110, y: 20 },
    { x: 110, y: 40 },
    { x: 10, y: 40 },
  ];
  return { quad, characters: Array.from(text, (character) => ({ character, probability, others: [], quad })) };
}

const identified = (...lines: PrintedLine[]) => identityOf(findBadges(lines));
const namesIn = (text: string) => {
  const stated = statedBy(text);
  return stated && [...stated.makes.map(({ name }) => name), ...stated.models.map(({ model: [name] }) => name)];
};

test.each([
  ['CITROËN', ['Citroën']],
  ['CITROEN', ['Citroën']],
  ['Golf', ['Golf']],
  ['Grand Cherokee', ['Grand Cherokee']],
  ['GRAND CHEROKEE LIMITED', ['Grand Cherokee']],
  ['Passat 2.0 TDI', ['Passat']],
  ['FORD F-150', ['Ford', 'F-150']],
  ['C-MAX', ['C-MAX']],
  ['320d', ['3 Series']],
  ['C 220 CDI', ['C-Class']],
  ['RAV4', ['RAV4']],
])('%s states %j', (text, names) => {
  expect(namesIn(text)).toEqual(names);
});

test.each([
  ['the name of a dealer', 'FORD OF DALLAS'],
  ['a slogan', 'I love my Golf'],
  ['trim without a name', '2.0 TDI'],
  ['a number plate', 'RK-492AU'],
  ['nothing', ''],
  ['a longer word', 'FORDHAM'],
])('%s states nothing: %s', (_, text) => {
  expect(statedBy(text)).toBeNull();
});

test('a make is as certain as its least certain character', () => {
  const line = printed('TOYOTA');
  Object.assign(line.characters[3] as object, { probability: 0.7 });
  expect(identified(line)).toEqual({ make: { value: 'Toyota', confidence: expect.closeTo(0.7) }, candidates: [] });
});

test('print that is hardly legible is no badge', () => {
  expect(findBadges([printed('TOYOTA', 0.4)])).toEqual([]);
});

test('the name of a model tells its make, less certainly than the name of the make', () => {
  const { make, candidates } = identified(printed('CAMRY'));
  expect(make).toEqual({ value: 'Toyota', confidence: expect.closeTo(0.81) });
  expect(candidates).toEqual([
    {
      make: 'Toyota',
      model: 'Camry',
      generation: null,
      year_from: 1982,
      year_to: null,
      confidence: expect.closeTo(0.81),
    },
  ]);
});

test('make and model confirm each other', () => {
  const { make } = identified(printed('TOYOTA'), printed('CAMRY LE'));
  expect(make?.confidence).toBeCloseTo(1 - 0.1 * 0.19);
});

test('the same badge on two pictures counts once', () => {
  expect(identified(printed('TOYOTA', 0.8), printed('TOYOTA', 0.9)).make?.confidence).toBeCloseTo(0.9);
});

test('lettering of two makes makes both doubtful', () => {
  const { make, candidates } = identified(printed('FORD', 0.9), printed('CAMRY', 0.8));
  expect(make).toEqual({ value: 'Ford', confidence: expect.closeTo(0.9 * (1 - 0.72)) });
  expect(candidates).toEqual([]);
});

test('pictures with lettering of different makes show different vehicles, and the first is identified', () => {
  const first = findBadges([printed('FORD', 0.9)], 0);
  const second = findBadges([printed('TOYOTA', 0.8), printed('CAMRY', 0.8)], 1);
  const { make, candidates, same_vehicle } = identityOfPictures([...first, ...second]);
  expect([make, candidates]).toEqual([{ value: 'Ford', confidence: expect.closeTo(0.9) }, []]);
  expect(same_vehicle).toEqual({ value: false, confidence: expect.closeTo(0.9 * (1 - 0.2 * 0.28)) });
});

test('pictures with lettering of one make do not tell whether they show one vehicle', () => {
  const badges = [...findBadges([printed('TOYOTA')], 0), ...findBadges([printed('CAMRY')], 1)];
  expect(identityOfPictures(badges)).toMatchObject({ make: { value: 'Toyota' }, same_vehicle: null });
});

test('figures and two characters tell a model only beside the name of its make', () => {
  expect(identified(printed('207'), printed('C3'))).toEqual({ make: null, candidates: [] });
  expect(identified(printed('PEUGEOT'), printed('207')).candidates).toMatchObject([{ model: '207' }]);
});

test('a name that two makes have tells none of them', () => {
  expect(identified(printed('Matiz'))).toEqual({ make: null, candidates: [] });
  expect(identified(printed('Matiz'), printed('DAEWOO')).candidates).toMatchObject([
    { make: 'Daewoo', model: 'Matiz' },
  ]);
});

test('only badges of the make are reported', () => {
  const badges = findBadges([printed('JEEP'), printed('C3')]);
  expect(badges.filter((badge) => isOfMake(badge, 'Jeep')).map(({ text }) => text)).toEqual(['JEEP']);
});

test('every model of the lexicon is stated by its own name or has a lettering, and its years are in order', () => {
  for (const { models } of LEXICON) {
    for (const [name, from, to, lettering] of models) {
      if (!lettering) expect(namesIn(name)).toContain(name);
      expect(from).toBeLessThanOrEqual(to ?? 2026);
    }
  }
});
