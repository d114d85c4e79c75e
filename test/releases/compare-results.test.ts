/** What agreement means, field by field, and which jobs are sampled. */
import { describe, expect, it } from 'vitest';
import { firstIdAt, newId } from '../../src/platform/ids.ts';
import { compareResults } from '../../src/releases/compare-results.ts';
import { isSampled } from '../../src/releases/is-sampled.ts';

const bbox = { x: 1, y: 2, width: 3, height: 4 };
const lamp = (code: string, confidence: number) => ({ code, severity: 'stop', confidence, bbox });

describe('two results', () => {
  it.each([
    ['the same value', { unit: 'km' }, { unit: 'km' }],
    ['absent and null', { unit: null }, {}],
    [
      'other confidences and boxes',
      { odometer: { value: 7, confidence: 0.9, bbox } },
      { odometer: { value: 7, confidence: 0.4 } },
    ],
    [
      'a list in another order',
      { lamps: [lamp('abs', 0.9), lamp('oil', 0.8)] },
      { lamps: [lamp('oil', 0.9), lamp('abs', 0.8)] },
    ],
    ['fields in another order', { lamps: [{ a: 1, b: 2 }] }, { lamps: [{ b: 2, a: 1 }] }],
    ['an estimate within a tenth', { camera: { azimuth_degrees: 91 } }, { camera: { azimuth_degrees: 100 } }],
    [
      'estimates within a list',
      { parts: [{ part: 'door', area_fraction: 0.2 }] },
      { parts: [{ part: 'door', area_fraction: 0.9 }] },
    ],
    ['another file', { mask: { object: 'artefact', id: 'art_1' } }, { mask: { object: 'artefact', id: 'art_2' } }],
    ['nothing', {}, {}],
  ])('two results agree: %s', (_, served, shadow) => {
    expect(compareResults(served, shadow).differing).toEqual({});
  });

  it.each([
    ['another value', { unit: 'km' }, { unit: 'mi' }, { unit: ['km', 'mi'] }],
    [
      'a reading that is off by one',
      { odometer: { value: 120_000 } },
      { odometer: { value: 120_001 } },
      { 'odometer.value': [120_000, 120_001] },
    ],
    [
      'nothing found',
      { odometer: { value: 7, unit: 'km' } },
      { odometer: null },
      { 'odometer.value': [7, null], 'odometer.unit': ['km', null] },
    ],
    [
      'an estimate beyond a tenth',
      { fuel_level_percent: 50 },
      { fuel_level_percent: 60 },
      { fuel_level_percent: [50, 60] },
    ],
    [
      'one entry more',
      { lamps: [lamp('abs', 1)] },
      { lamps: [] },
      { lamps: [[{ code: 'abs', severity: 'stop' }], []] },
    ],
    ['the same entry twice', { codes: ['a', 'a'] }, { codes: ['a'] }, { codes: [['a', 'a'], ['a']] }],
    ['a list and none', { lamps: null }, { lamps: [] }, { lamps: [null, []] }],
  ])('two results differ: %s', (_, served, shadow, differing) => {
    expect(compareResults(served, shadow).differing).toEqual(differing);
  });

  it('a comparison names each field by its path', () => {
    const result = { view: { value: 'left', confidence: 1 }, odometer: { value: 1, unit: null }, lamps: [] };
    expect(compareResults(result, result).agreed).toEqual(['view.value', 'odometer.value', 'odometer.unit', 'lamps']);
  });
});

describe('a share of the jobs', () => {
  const ids = Array.from({ length: 20_000 }, (_, index) => `job_${index.toString(36).padStart(22, '1')}`);

  it.each([1, 10, 50, 99])('a share of %i %% of the jobs is what it says', (share) => {
    const sampled = ids.filter((id) => isSampled(id, share)).length;
    // Of the fixed ids above, within four standard deviations.
    const deviation = Math.sqrt(ids.length * (share / 100) * (1 - share / 100));
    expect(Math.abs(sampled - ids.length * (share / 100))).toBeLessThan(4 * deviation);
  });

  it('a share of the jobs is the same on every machine, and holds those of a smaller share', () => {
    const [inside, outside] = [ids.find((id) => isSampled(id, 10)), ids.find((id) => !isSampled(id, 10))];
    expect([inside, outside]).toEqual(['job_1111111111111111111111', 'job_1111111111111111111110']);
    for (const id of ids) if (isSampled(id, 10)) expect(isSampled(id, 11)).toBe(true);
  });

  it('a share of 100 % is all jobs, and a half is drawn also from ids that begin alike', () => {
    expect(isSampled(newId('job'), 100)).toBe(true);
    const second = Array.from({ length: 2_000 }, (_, ms) => firstIdAt('job', new Date(1_800_000_000_000 + ms)));
    expect(second.filter((id) => isSampled(id, 50)).length).toBeGreaterThan(800);
  });
});
