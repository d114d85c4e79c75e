import { describe, expect, test } from 'vitest';
import { MEGABYTE } from '../../../src/contracts/media-limits.ts';
import { PRICE_CHANNELS } from '../../../src/contracts/vocabulary/pricing.ts';
import { pricingVehicle } from '../../../src/endpoints/pricing.vehicle/contract.ts';
import { MINOR_UNITS_PER_EURO_CENT, PRICE_BOOKS } from '../../../src/endpoints/pricing.vehicle/price-books.ts';
import type { Result } from '../../../src/endpoints/pricing.vehicle/result.ts';
import { fixtureOf } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal, UPLOAD_ID } from '../../support/refusals.ts';
import { testModeOutcome } from '../../support/test-mode.ts';

const VALUED = ['default', 'low_confidence', 'thin_market', 'vin_not_resolved'];
const CAR = { make: 'Talvera', model: 'Lumo', year: 2022 };
const vehicle = CAR;
const NOW = new Date('2026-12-31T23:00:00Z');

const priced = async (parameters: Record<string, unknown>, scenario?: string, mediaTypes: string[] = []) =>
  (await testModeOutcome<Result>(pricingVehicle, { parameters, mediaTypes, ...(scenario && { scenario }) })).result;

describe('the request', () => {
  test('a valuation accepts 0 to 30 pictures', () => {
    expect(pricingVehicle.files).toMatchObject({
      field: 'images',
      minimum: 0,
      maximum: 30,
      maximumBytes: 10 * MEGABYTE,
    });
    expect(jsonRefusal(pricingVehicle, { vehicle })).toBeNull();
    expect(jsonRefusal(pricingVehicle, { vehicle, input_refs: Array(30).fill(UPLOAD_ID) })).toBeNull();
    expect(jsonRefusal(pricingVehicle, { vehicle, input_refs: Array(31).fill(UPLOAD_ID) })).toEqual({
      code: 'parameter_invalid',
      param: 'input_refs',
    });
  });

  test.each([
    [{}, 'parameter_missing', 'vehicle'],
    [{ vehicle: 'a car' }, 'parameter_invalid', 'vehicle'],
    [{ vehicle: { ...CAR, wheels: 4 } }, 'parameter_unknown', 'vehicle.wheels'],
    [{ vehicle: { vin: '7ZZBX2C45N104821' } }, 'parameter_invalid', 'vehicle.vin'],
    [{ vehicle: { vin: '7ZZBX2C45N104821O' } }, 'parameter_invalid', 'vehicle.vin'],
    [{ vehicle: { ...CAR, year: '2022' } }, 'parameter_invalid', 'vehicle.year'],
    [{ vehicle: { ...CAR, mileage_km: -1 } }, 'parameter_invalid', 'vehicle.mileage_km'],
    [{ vehicle: { ...CAR, mileage_km: 1.5 } }, 'parameter_invalid', 'vehicle.mileage_km'],
    [{ vehicle, condition_grade: 'F' }, 'parameter_invalid', 'condition_grade'],
    [{ vehicle, condition_grade: 'a' }, 'parameter_invalid', 'condition_grade'],
    [{ vehicle, repair_estimate_total: -1 }, 'parameter_invalid', 'repair_estimate_total'],
    [{ vehicle, repair_estimate_total: 10.5 }, 'parameter_invalid', 'repair_estimate_total'],
    [{ vehicle, price_book: 7 }, 'parameter_invalid', 'price_book'],
    [{ vehicle, price_book: '' }, 'parameter_invalid', 'price_book'],
    [{ vehicle, currency: 'eur' }, 'parameter_invalid', 'currency'],
    [{ vehicle, currency: 'EURO' }, 'parameter_invalid', 'currency'],
    [{ vehicle, country: 'DEU' }, 'parameter_invalid', 'country'],
    [{ vehicle, country: 'de' }, 'parameter_invalid', 'country'],
    [{ vehicle, margin_pct: '8' }, 'parameter_invalid', 'margin_pct'],
    [{ vehicle, margin_pct: -1 }, 'parameter_invalid', 'margin_pct'],
    [{ vehicle, include_comparables: 'no' }, 'parameter_invalid', 'include_comparables'],
    [{ vehicle, discount: 1 }, 'parameter_unknown', 'discount'],
  ])('a valuation refuses the parameters %j', (parameters, code, param) => {
    expect(parameterRefusal(pricingVehicle, parameters)).toEqual({ code, param });
  });

  test('a valuation accepts every specified parameter', () => {
    const parameters = {
      vehicle: { ...CAR, vin: '7ZZBX2C45N1048215', mileage_km: 48_200 },
      repair_estimate_total: 0,
      price_book: 'eu-de',
      currency: 'EUR',
      country: 'DE',
      margin_pct: 8.5,
      include_comparables: false,
    };
    for (const condition_grade of ['A', 'B', 'C', 'D', 'E']) {
      expect(parameterRefusal(pricingVehicle, { ...parameters, condition_grade })).toBeNull();
    }
  });

  test('a valuation refuses a repeated parameter', () => {
    expect(multipartRefusal(pricingVehicle, { vehicle: '{}', currency: ['EUR', 'USD'] })?.param).toBeDefined();
  });

  test.each([
    [{ vin: '7ZZBX2C45N1048215' }, null],
    [CAR, null],
    [{}, 'vehicle.make'],
    [{ make: 'Talvera', year: 2022 }, 'vehicle.model'],
    [{ make: 'Talvera', model: 'Lumo', mileage_km: 10 }, 'vehicle.year'],
  ])('a valuation requires a VIN, or make, model and year: %j', (described, param) => {
    const problem = pricingVehicle.refine({ parameters: { vehicle: described }, files: [] });
    expect(problem?.param ?? null).toBe(param);
  });

  test.each([
    [{}, null],
    [{ country: 'DE' }, null],
    [{ country: 'US' }, 'country'],
    [{ country: 'US', price_book: 'eu-de' }, 'country'],
    [{ price_book: 'made-up' }, 'price_book'],
    [{ currency: 'ZZZ' }, 'currency'],
  ])('a valuation refuses in test mode what the fixtures do not know: %j', (requested, param) => {
    const problem = pricingVehicle.refineTestMode({ parameters: { vehicle: CAR, ...requested }, files: [] }, NOW);
    expect(problem?.param ?? null).toBe(param);
  });

  test.each([
    [1949, 'vehicle.year'],
    [1950, null],
    [2026, null],
    [2027, null],
    [2028, 'vehicle.year'],
  ])('a valuation refuses a model year before the price book begins or after next year: %d', (year, param) => {
    for (const described of [
      { ...CAR, year },
      { vin: '7ZZBX2C45N1048215', year },
    ]) {
      const problem = pricingVehicle.refineTestMode({ parameters: { vehicle: described }, files: [] }, NOW);
      expect(problem?.param ?? null).toBe(param);
    }
  });
});

describe('a valuation', () => {
  test.each(VALUED)(
    'the valuation of the scenario %s equals its base plus adjustments, within its range',
    (scenario) => {
      expectSums(fixtureOf<Result>(pricingVehicle.slug, scenario));
    },
  );

  test('a valuation adds up after every parameter that moves it', async () => {
    const equipped = { ...vehicle, mileage_km: 48_200, equipment: ['Sunroof'] };
    const parameters = { condition_grade: 'D', repair_estimate_total: 123_456, margin_pct: 7.3 };
    const result = await priced({ vehicle: equipped, ...parameters });
    expectSums(result);
    expect(result.adjustments.map(({ kind }) => kind).toSorted()).toEqual(
      ['condition', 'damage', 'demand', 'equipment', 'margin', 'mileage'].toSorted(),
    );
  });

  test('a valuation deducts the repair estimate in every channel, down to 0 at most', async () => {
    const [plain, less] = [await priced({ vehicle }), await priced({ vehicle, repair_estimate_total: 100_000 })];
    for (const channel of PRICE_CHANNELS) {
      expect(less.channels?.[channel].value).toBe((plain.channels?.[channel].value ?? 0) - 100_000);
    }
    const wreck = await priced({ vehicle, repair_estimate_total: 9_000_000 });
    expect(wreck.channels?.trade_in).toMatchObject({ low: 0, value: 0, high: 0 });
  });

  test('a valuation adds the margin to the retail value only', async () => {
    const [plain, more] = [await priced({ vehicle }), await priced({ vehicle, margin_pct: 10 })];
    const retail = plain.channels?.retail.value ?? 0;
    expect(more.channels?.retail.value).toBe(retail + Math.round(retail / 10));
    expect(more.channels?.private).toEqual(plain.channels?.private);
  });

  test('a valuation falls with the condition grade', async () => {
    const values: number[] = [];
    for (const condition_grade of ['A', 'B', 'C', 'D', 'E']) {
      const { condition, channels } = await priced({ vehicle, condition_grade });
      expect(condition).toEqual({ grade: condition_grade, sources: ['request'], confidence: null });
      values.push(channels?.private.value ?? 0);
    }
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    expect(new Set(values).size).toBe(5);
  });

  test('a valuation states what the condition was inferred from', async () => {
    const sourcesOf = async (parameters: object, mediaTypes: string[]) =>
      (await priced({ vehicle, ...parameters }, undefined, mediaTypes)).condition?.sources;
    expect(await sourcesOf({}, [])).toEqual([]);
    expect(await sourcesOf({}, ['image/jpeg'])).toEqual(['photos']);
    expect(await sourcesOf({ repair_estimate_total: 1 }, ['image/jpeg'])).toEqual(['photos', 'repair_estimate']);
  });

  test('a valuation names the requested vehicle, or the one that the VIN resolved to', async () => {
    const named = await priced({ vehicle: { make: 'Orbis', model: 'Vento', year: 2019, mileage_km: 9 } });
    expect(named.vehicle).toEqual({
      vin: null,
      make: 'Orbis',
      model: 'Vento',
      variant: null,
      year: 2019,
      mileage_km: 9,
      resolved_from: 'attributes',
    });
    const vin = '7ZZBX2C45N1048299';
    expect((await priced({ vehicle: { vin } })).vehicle).toMatchObject({ vin, make: 'Talvera', resolved_from: 'vin' });
    expect((await priced({ vehicle: { ...CAR, vin } }, 'vin_not_resolved')).vehicle).toMatchObject({
      vin,
      resolved_from: 'attributes',
    });
  });

  test.each([{}, { make: 'Orbis' }, { make: 'Orbis', model: 'Vento' }, { year: 2019 }])(
    'a valuation has no values when the VIN does not resolve and %j does not identify the vehicle',
    async (attributes) => {
      const described = { vin: '7ZZBX2C45N1048299', mileage_km: 10, equipment: ['Sunroof'], ...attributes };
      const moved = { condition_grade: 'D', repair_estimate_total: 100, margin_pct: 5, currency: 'USD' };
      const { vehicle: _none, ...empty } = fixtureOf<Result>(pricingVehicle.slug, 'empty_result');
      expect(await priced({ vehicle: described, ...moved }, 'vin_not_resolved')).toEqual({
        ...empty,
        vehicle: null,
        currency: 'USD',
      });
    },
  );

  describe('a described vehicle', () => {
    const described = { make: 'Orbis', model: 'Vento', year: 2020, mileage_km: 80_000 };
    const retail = async (changes: object = {}) =>
      (await priced({ vehicle: { ...described, ...changes } })).channels?.retail.value ?? 0;
    const mileageOf = async (changes: object) =>
      (await priced({ vehicle: { ...described, ...changes } })).adjustments.find(({ kind }) => kind === 'mileage');

    test('the valuation of a described vehicle is the same every time', async () => {
      expect(await retail()).toBe(await retail());
      expect(await retail({ make: ' orbis', model: 'VENTO' })).toBe(await retail());
    });

    test('a valuation changes with make and model', async () => {
      const values = [await retail(), await retail({ make: 'Talvera' }), await retail({ model: 'Lumo' })];
      expect(new Set(values).size).toBe(3);
    });

    test('a valuation falls with age and with mileage', async () => {
      expect(await retail({ year: 2016 })).toBeLessThan(await retail());
      expect(await retail({ mileage_km: 180_000 })).toBeLessThan(await retail());
      expect(await retail({ mileage_km: 20_000 })).toBeGreaterThan(await retail());
    });

    test('a valuation is given up to the highest mileage that a request may state', async () => {
      const { comparables } = await priced({ vehicle: { ...described, mileage_km: 5_000_000 } });
      expect(Math.max(...(comparables ?? []).map(({ mileage_km }) => mileage_km ?? 0))).toBe(5_000_000);
    });

    test('a valuation states the mileage difference that it weighs', async () => {
      expect(await mileageOf({ year: 2022, mileage_km: 48_200 })).toMatchObject({
        reason: '12,800 km fewer than is usual at its age',
      });
      const more = await mileageOf({ year: 2022, mileage_km: 71_000 });
      expect(more?.reason).toBe('10,000 km more than is usual at its age');
      expect(more?.amount).toBeLessThan(0);
      expect(await mileageOf({ mileage_km: undefined })).toBeUndefined();
    });

    test('a valuation names only equipment of the request', async () => {
      const equipmentOf = async (changes: object) =>
        (await priced({ vehicle: { ...described, ...changes } })).adjustments.filter(
          ({ kind }) => kind === 'equipment',
        );
      expect(await equipmentOf({})).toEqual([]);
      expect(await equipmentOf({ equipment: ['Sunroof'] })).toMatchObject([{ reason: 'Equipment: Sunroof' }]);
    });

    test('a valuation adds up, with comparables of the same age and mileage', async () => {
      const result = await priced({ vehicle: { ...described, year: 2012, mileage_km: 260_000 } });
      expectSums(result);
      expect(result.comparables?.map(({ year }) => year)).toEqual([2012, 2012, 2012, 2011]);
      for (const { channel, price, mileage_km } of result.comparables ?? []) {
        const value = result.channels?.[channel].value ?? 0;
        expect(Math.abs(price / value - 1)).toBeLessThan(0.1);
        expect(Math.abs((mileage_km ?? 0) - 260_000)).toBeLessThan(20_000);
      }
    });

    test.each([1950, 1994, 2016, 2022, 2027])(
      'a vehicle of %d in a thin market has nearly its usual value, within a wide range, on two observations',
      async (year) => {
        for (const one of [CAR, described]) {
          const requested = { vehicle: { ...one, year } };
          const [usual, thin] = [await priced(requested), await priced(requested, 'thin_market')];
          expectSums(thin);
          for (const name of PRICE_CHANNELS) {
            const [wide, narrow] = [thin.channels?.[name], usual.channels?.[name]];
            if (!wide || !narrow) throw new Error('the vehicle has no value');
            expect(Math.abs(wide.value / narrow.value - 1)).toBeLessThan(0.1);
            expect(wide.high - wide.low).toBeGreaterThan(2 * (narrow.high - narrow.low));
          }
          expect(thin.comparables).toHaveLength(2);
          expect(thin.market?.observations).toBe(2);
        }
      },
    );

    test('the valuation of the reference vehicle has the values of the fixture', async () => {
      const { vehicle: _vehicle, condition: _condition, ...values } = fixtureOf<Result>(pricingVehicle.slug);
      expect(await priced({ vehicle: { vin: '7ZZBX2C45N1048215', mileage_km: 48_200 } })).toMatchObject(values);
    });
  });

  test.each([...VALUED, 'empty_result'])('the valuation of the scenario %s uses an existing price book', (scenario) => {
    const { price_book, country, currency } = fixtureOf<Result>(pricingVehicle.slug, scenario);
    expect({ [price_book]: { country } }).toEqual(PRICE_BOOKS);
    expect(currency).toBe('EUR');
  });

  test.each(Object.entries(MINOR_UNITS_PER_EURO_CENT))(
    'a valuation converts to %s and adds up',
    async (currency, rate) => {
      const [euros, told] = [await priced({ vehicle }), await priced({ vehicle, currency })];
      expect(told.currency).toBe(currency);
      expectSums(told);
      for (const name of PRICE_CHANNELS) {
        for (const field of ['base', 'low', 'value', 'high'] as const) {
          // Each summand is rounded separately.
          expect(
            Math.abs((told.channels?.[name][field] ?? 0) - (euros.channels?.[name][field] ?? 0) * rate),
          ).toBeLessThan(4);
        }
      }
      expect(told.comparables?.map(({ price }) => price)).toEqual(
        euros.comparables?.map(({ price }) => Math.round(price * rate)),
      );
      const less = await priced({ vehicle, currency, repair_estimate_total: 1_000 });
      expect(less.channels?.retail.value).toBe((told.channels?.retail.value ?? 0) - 1_000);
    },
  );

  test('a valuation omits the comparables on request', async () => {
    expect((await priced({ vehicle })).comparables).toHaveLength(4);
    expect((await priced({ vehicle, include_comparables: false })).comparables).toBeNull();
  });
});

function expectSums({ channels, adjustments }: Result): void {
  for (const name of PRICE_CHANNELS) {
    const channel = channels?.[name];
    const sum = adjustments
      .filter((item) => item.channels.includes(name))
      .reduce((total, { amount }) => total + amount, 0);
    expect(channel?.value).toBe((channel?.base ?? 0) + sum);
    expect(channel?.low).toBeLessThan(channel?.value ?? 0);
    expect(channel?.high).toBeGreaterThan(channel?.value ?? 0);
  }
}
