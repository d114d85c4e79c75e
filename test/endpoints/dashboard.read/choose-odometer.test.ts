import { describe, expect, it } from 'vitest';
import { chooseOdometer } from '../../../src/endpoints/dashboard.read/choose-odometer.ts';
import type { PrintedOdometer } from '../../../src/endpoints/dashboard.read/printed-odometer.ts';
import type { Reading } from '../../../src/endpoints/dashboard.read/reading.ts';

type Odometer = NonNullable<Reading['odometer']>;

const HERE = { x0: 0, y0: 0, x1: 60, y1: 20 };
const ELSEWHERE = { x0: 0, y0: 100, x1: 60, y1: 120 };

function own(value: number, fields: Partial<Odometer> = {}): Odometer {
  return { value, unit: null, confidence: 0.95, box: HERE, score: 0.9, label: 'odometer_digital', ...fields };
}

function printed(value: number, fields: Partial<PrintedOdometer> = {}): PrintedOdometer {
  return { value, unit: null, confidence: 0.95, box: HERE, evidence: 4, hasUnitInLine: false, ...fields };
}

it('two readings that agree are surer than either', () => {
  const odometer = chooseOdometer(own(84_213), [printed(84_213, { unit: 'km' })]);
  expect(odometer).toMatchObject({ value: 84_213, unit: 'km' });
  expect(odometer?.confidence).toBeCloseTo(1 - 0.05 * 0.05, 9);
});

it('an agreement on a range gives way to a likelier odometer', () => {
  const range = printed(310, { unit: 'km', evidence: 2 });
  expect(chooseOdometer(own(310), [printed(106_655, { box: ELSEWHERE }), range])).toMatchObject({ value: 106_655 });
});

it('an agreement on three digits is no odometer', () => {
  expect(chooseOdometer(own(156), [printed(156, { evidence: 2 })])).toBeNull();
});

describe('print alone', () => {
  it('print alone is the odometer reading', () => {
    expect(chooseOdometer(null, [printed(84_213)])).toMatchObject({ value: 84_213, label: 'odometer_digital' });
  });

  it.each([
    ['too little evidence', [printed(8_421, { evidence: 2 })]],
    ['an uncertain digit', [printed(84_213, { confidence: 0.8 })]],
    ['another number that is as likely', [printed(84_213), printed(90_210, { box: ELSEWHERE })]],
  ])('print alone is no odometer reading with %s', (_, candidates) => {
    expect(chooseOdometer(null, candidates)).toBeNull();
  });
});

describe("the cluster's own reading", () => {
  it("the cluster's own reading needs certainty without support by print", () => {
    expect(chooseOdometer(own(84_213, { confidence: 0.98 }), [])).toMatchObject({ value: 84_213 });
    expect(chooseOdometer(own(84_213, { confidence: 0.95 }), [])).toBeNull();
  });

  it("the cluster's own reading of drums counts against print, which reads half-turned digits wrongly", () => {
    const drums = own(84_213, { label: 'odometer_analogue' });
    expect(chooseOdometer(drums, [printed(842_137)])).toMatchObject({ value: 84_213 });
  });

  it("the cluster's own reading of few drums is rejected as cut off", () => {
    expect(chooseOdometer(own(5_924, { label: 'odometer_analogue', confidence: 0.99 }), [])).toBeNull();
  });

  it("the cluster's own reading counts where print reads a part of it", () => {
    expect(chooseOdometer(own(183_636), [printed(8_363)])).toMatchObject({ value: 183_636 });
  });
});

describe('two readings of one place', () => {
  it('the surer of two readings of one place is the odometer', () => {
    expect(chooseOdometer(own(49_587, { confidence: 0.99 }), [printed(49_581)])).toMatchObject({ value: 49_587 });
    expect(chooseOdometer(own(49_587), [printed(49_581, { confidence: 0.99 })])).toMatchObject({ value: 49_581 });
  });

  it('two readings of one place are no odometer when neither is sure', () => {
    expect(chooseOdometer(own(49_587, { confidence: 0.8 }), [printed(49_581, { confidence: 0.8 })])).toBeNull();
  });
});
