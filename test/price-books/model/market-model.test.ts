/** The model of a market: what holds for every vehicle, and how well it finds a rule that is known. */

import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { invented } from '../../../src/price-books/invented-market.ts';
import { decodeModel, encodeModel } from '../../../src/price-books/model/encode-model.ts';
import { evaluateModel } from '../../../src/price-books/model/evaluate-model.ts';
import { estimatePrice, fitMarketModel, type MarketModel } from '../../../src/price-books/model/market-model.ts';
import type { MarketRow, PricedAttributes } from '../../../src/price-books/model/market-rows.ts';
import { COLUMNS, readObservation } from '../../../src/price-books/observation.ts';
import { ageYears } from '../../../src/price-books/vehicle-age.ts';

const market = { country: 'GB', currency: 'GBP' };

const rows: MarketRow[] = invented({ count: 1_500, ...market }).map((line) => {
  const fields = line.split(',');
  const values = Object.fromEntries(COLUMNS.map((name, at) => [name, fields[at] ?? '']));
  const observation = readObservation(values as Parameters<typeof readObservation>[0], market, '9999-12-31');
  return {
    ...observation,
    ageYears: ageYears(observation.observedOn, observation),
    tenth: observation.digest.readUInt32BE(8) % 10,
    fold: observation.digest.readUInt32BE(12) % 5,
  };
});

let model: MarketModel;

beforeAll(() => {
  model = fitMarketModel(rows);
});

const vehicles: fc.Arbitrary<PricedAttributes> = fc.record({
  make: fc.constantFrom('talvera', 'norvik', 'unheard'),
  model: fc.constantFrom('lumo', 'fjell', 'bris'),
  ageYears: fc.double({ min: 0, max: 40, noNaN: true }),
  mileageKm: fc.option(fc.integer({ min: 0, max: 900_000 }), { nil: null }),
  fuel: fc.constantFrom('petrol', 'diesel', null),
  transmission: fc.constantFrom('manual', 'automatic', null),
  powerKw: fc.option(fc.integer({ min: 30, max: 400 }), { nil: null }),
  engineLitres: fc.option(
    fc.integer({ min: 8, max: 60 }).map((tenths) => tenths / 10),
    { nil: null },
  ),
  seller: fc.constantFrom('private', 'dealer', null),
  unrepairedDamage: fc.constantFrom(true, false, null),
});

const estimated = (vehicle: PricedAttributes) => estimatePrice(model, vehicle).value;

describe('the value of a vehicle', () => {
  it('a value never rises with more kilometres', () => {
    fc.assert(
      fc.property(vehicles, fc.integer({ min: 0, max: 500_000 }), (vehicle, more) => {
        const mileageKm = vehicle.mileageKm ?? 0;
        expect(estimated({ ...vehicle, mileageKm: mileageKm + more })).toBeLessThanOrEqual(
          estimated({ ...vehicle, mileageKm }),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('a value never rises with age, whether or not the mileage is known', () => {
    fc.assert(
      fc.property(vehicles, fc.double({ min: 0, max: 20, noNaN: true }), (vehicle, more) => {
        expect(estimated({ ...vehicle, ageYears: vehicle.ageYears + more })).toBeLessThanOrEqual(estimated(vehicle));
      }),
      { numRuns: 300 },
    );
  });

  it('a value never rises with damage', () => {
    fc.assert(
      fc.property(vehicles, (vehicle) => {
        const [damaged, unknown, sound] = [true, null, false].map((unrepairedDamage) =>
          estimated({ ...vehicle, unrepairedDamage }),
        ) as [number, number, number];
        expect(damaged).toBeLessThanOrEqual(unknown);
        expect(unknown).toBeLessThanOrEqual(sound);
      }),
    );
  });
});

describe('a value never rises by a small step either', () => {
  const vehicles = ['petrol', 'diesel', null].flatMap((fuel) =>
    ['private', 'dealer', null].flatMap((seller) =>
      ['lumo', 'fjell', 'bris'].map((model) => ({
        make: 'talvera',
        model,
        fuel,
        seller,
        transmission: 'manual',
        powerKw: 90,
        engineLitres: 1.6,
        unrepairedDamage: null,
      })),
    ),
  );
  /** Every pair of neighbours in which the later one is worth more. */
  const rises = (at: (vehicle: (typeof vehicles)[number], step: number) => PricedAttributes, steps: number) =>
    vehicles.flatMap((vehicle) => {
      const values = Array.from({ length: steps }, (_, step) => estimated(at(vehicle, step)));
      return values.filter((value, step) => step > 0 && value > (values[step - 1] ?? 0));
    });

  it('a value never rises with another 500 kilometres', () => {
    expect(
      rises((vehicle, step) => ({ ...vehicle, ageYears: 6, mileageKm: step * 500 }) as PricedAttributes, 600),
    ).toEqual([]);
  });

  it('a value never rises with another week of age', () => {
    expect(
      rises((vehicle, step) => ({ ...vehicle, ageYears: step / 52, mileageKm: 60_000 }) as PricedAttributes, 1_000),
    ).toEqual([]);
  });
});

it('the range surrounds the value', () => {
  fc.assert(
    fc.property(vehicles, (vehicle) => {
      const { low, high } = estimatePrice(model, vehicle);
      expect(low).toBeLessThanOrEqual(1);
      expect(high).toBeGreaterThanOrEqual(1);
    }),
  );
});

it('the model finds the rule of the market but for its noise, in prices that it was not fitted to', () => {
  const { medianErrorPercent, withinRangePercent, baselineErrorPercent } = evaluateModel(model, rows);
  // The noise alone has a median of 5.4 %.
  expect(medianErrorPercent).toBeLessThan(9);
  expect(baselineErrorPercent).toBeGreaterThan(9);
  expect(withinRangePercent).toBeGreaterThan(65);
  expect(withinRangePercent).toBeLessThan(95);
});

it('the model hardly moves for a few absurd prices', () => {
  const absurd = rows.map((row, at) => (at % 50 === 0 ? { ...row, priceMinor: row.priceMinor * 100 } : row));
  const { medianErrorPercent } = evaluateModel(fitMarketModel(absurd), rows);
  expect(medianErrorPercent).toBeLessThan(9);
});

it('the model knows a kind of seller by its offers, not by one of them', () => {
  const some = rows.slice(0, 300).map((row, at) => ({ ...row, seller: at === 7 ? 'dealer' : 'private' }) as const);
  expect(fitMarketModel(some).sellers).toEqual(['private']);
});

it('the model is the same for the same rows, and after it was stored', () => {
  const some = rows.slice(0, 300);
  expect(encodeModel(fitMarketModel(some)).equals(encodeModel(fitMarketModel(some)))).toBe(true);
  const stored = decodeModel(encodeModel(model));
  for (const row of rows.slice(0, 100)) expect(estimatePrice(stored, row)).toEqual(estimatePrice(model, row));
});
