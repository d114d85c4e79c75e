/** The network that outlines a vehicle and its parts, as a clone has it, on pictures that the project draws. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { partsRecognize } from '../../../src/endpoints/parts.recognize/contract.ts';
import { partsSegment } from '../../../src/endpoints/parts.segment/contract.ts';
import type { Result as PartsResult } from '../../../src/endpoints/parts.segment/result.ts';
import { tireDetect } from '../../../src/endpoints/tire.detect/contract.ts';
import { vehicleIdentify } from '../../../src/endpoints/vehicle.identify/contract.ts';
import { vehiclePose } from '../../../src/endpoints/vehicle.pose/contract.ts';
import { vehicleSegment } from '../../../src/endpoints/vehicle.segment/contract.ts';
import { type ShippedModels, STARTED_WITHIN_MS, startShippedModels } from '../support/shipped-models.ts';

const ENDPOINTS = [partsRecognize, partsSegment, tireDetect, vehicleIdentify, vehiclePose, vehicleSegment];
/** A drawn car, its front and its left side towards the viewer, 960 pixels wide. */
const CAR = 'render.360/fixtures/example.jpg';
let models: ShippedModels;
beforeAll(async () => {
  models = await startShippedModels(ENDPOINTS, 'src/endpoints/');
}, STARTED_WITHIN_MS);
afterAll(() => models.backend.close());

const ask: ShippedModels['ask'] = (...given) => models.ask(...given);

it('the vehicle-parts model serves its endpoints from one set of processes', () => {
  models.expectOneSetOfProcesses('vehicle-parts@2026-11-26');
});

it.each([
  ['example.jpg', 'front_left'],
  ['example-2.jpg', 'front'],
  ['example-3.jpg', 'front_right'],
  ['example-5.jpg', 'right'],
])(
  'a drawn car in %s is seen from %s',
  async (file, view) => {
    expect(await ask('vehicle.pose', `render.360/fixtures/${file}`)).toMatchObject({
      view: { value: view },
      framing: { value: 'well_framed', cropped_edges: [] },
    });
  },
  300_000,
);

it('parts.segment outlines the parts of the side that shows, and not those of the other', async () => {
  const { parts } = (await ask('parts.segment', CAR)) as PartsResult;
  const names = parts.map(({ part, side }) => (side === 'none' ? part : `${part}.${side}`));
  const sure = [
    'hood',
    'windshield',
    'front_bumper',
    'front_door.left',
    'rear_door.left',
    'front_wheel.left',
    'rear_wheel.left',
  ];
  expect(names).toEqual(expect.arrayContaining(sure));
  expect(names.filter((name) => /door\.right|taillight|rear_bumper|trunk_lid/.test(name))).toEqual([]);
  const boxOf = (name: string) => parts[names.indexOf(name)]?.bbox ?? { x: Number.NaN, y: Number.NaN };
  // The front of a car points to the left of its left side.
  const fromFrontToRear = ['front_wheel.left', 'front_door.left', 'rear_door.left', 'rear_wheel.left'].map(
    (name) => boxOf(name).x,
  );
  expect(fromFrontToRear).toEqual(fromFrontToRear.toSorted((a, b) => a - b));
  expect(boxOf('windshield').y).toBeLessThan(boxOf('hood').y);
}, 300_000);

it('the vehicle-parts model outlines the vehicle around its parts, and states its paint and its tires', async () => {
  expect(await ask('vehicle.segment', CAR, { include_matte: false })).toMatchObject({
    vehicles: [{ class: 'car', is_main: true, is_cut_off: false }],
  });
  expect(await ask('vehicle.identify', 'render.360/fixtures/example-5.jpg')).toMatchObject({
    make: null,
    color: { value: 'blue' },
    sightings: [{ view: 'right' }],
  });
  expect(await ask('tire.detect', CAR)).toMatchObject({
    tires: expect.arrayContaining([
      expect.objectContaining({ position: expect.objectContaining({ value: 'front_left' }) }),
      expect.objectContaining({ position: expect.objectContaining({ value: 'rear_left' }) }),
    ]) as unknown,
  });
}, 300_000);

it.each(['dashboard.read', 'document.read', 'engine.detect'])(
  'the vehicle-parts model invents nothing on the example of %s',
  async (endpoint) => {
    const file = `${endpoint}/fixtures/example.jpg`;
    expect(await ask('vehicle.segment', file)).toEqual({ vehicles: [], matte: null });
    expect(await ask('parts.recognize', file)).toMatchObject({ view: null, parts: [] });
    expect(await ask('vehicle.pose', file)).toMatchObject({ view: null, vehicle: null });
    expect(await ask('tire.detect', file)).toMatchObject({ tires: [] });
  },
  300_000,
);
