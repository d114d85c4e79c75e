/** Which bundles are available, and what their stages cost. */
import { describe, expect, test } from 'vitest';
import type { EndpointContract } from '../../../src/contracts/endpoint-contract.ts';
import { endpoints } from '../../../src/endpoints/list.ts';
import { installedBundles } from '../../../src/inference/bundles/plan.ts';

const endpointsDirectory = new URL('../../../src/endpoints/', import.meta.url);
const contracts: readonly EndpointContract[] = endpoints;

describe('an installed bundle', () => {
  const versions = new Map([
    ['vehicle.pose', 'pose@2026-11-21'],
    ['vehicle.identify', 'identify@2026-12-02'],
    ['plate.read', 'plate@2026-11-30'],
  ]);

  test('a bundle is available in live mode once every endpoint that it needs is installed, under the newest of their dates', async () => {
    expect(await installedBundles(contracts, endpointsDirectory, versions)).toEqual(new Map());
    const all = new Map([...versions, ['damage.detect', 'damage@2026-11-21']]);
    expect(await installedBundles(contracts, endpointsDirectory, all)).toEqual(
      new Map([['vehicle.analyze', 'vehicle-analyze@2026-12-02']]),
    );
  });
});

test('the prices of the stages of every bundle add up to its price', () => {
  const files = [{ mediaType: 'image/jpeg' }, { mediaType: 'image/png' }];
  const bundles = contracts.filter(({ stagePlan }) => stagePlan);
  const slugs = ['vehicle.analyze', 'video.onboard', 'inspections', 'pricing.vehicle'];
  expect(bundles.map(({ slug }) => slug)).toEqual(slugs);
  for (const { stagePlan, price, priceCredits: fixedPrice } of bundles) {
    for (const parameters of [{}, { tasks: ['vin.read'], run: ['plate.read'], frames_per_view: 2 }]) {
      const plan = stagePlan?.({ parameters, files }) ?? [];
      expect(plan.reduce((sum, { priceCredits }) => sum + priceCredits, 0)).toBe(
        price?.({ parameters, files }) ?? fixedPrice,
      );
    }
  }
});
