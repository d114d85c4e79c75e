/**
 * Every endpoint that sees a vehicle in live mode, by HTTP against the whole service with the models of a clone: one picture each, and an
 * inspection of eight views with its report. The pictures are those that the project draws.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { VehicleInferenceClient } from '../../src/client/index.ts';
import { PROJECT_DIRECTORY, useProcesses } from '../support/processes.ts';
import { untilAvailable } from '../support/until.ts';
import { type RunningService, startWholeService } from './service-client.ts';

const drawn = ['example', ...[2, 3, 4, 5, 6, 7, 8].map((number) => `example-${number}`)].map(
  (name) => new Uint8Array(readFileSync(`${PROJECT_DIRECTORY}src/endpoints/render.360/fixtures/${name}.jpg`)),
);
/** A car, its front and its left side towards the viewer. */
const [car = new Uint8Array()] = drawn;
/** The same car from behind and the right, with a scuffed rear bumper. */
const scuffed = drawn[3] ?? car;
const noVehicle = new Uint8Array(readFileSync(`${PROJECT_DIRECTORY}training/examples/day-miles-seven-segment.jpg`));
const some = expect.arrayContaining([expect.anything()]);
const valued = (value: unknown) => expect.objectContaining({ value });

/** What a picture of the car answers with, and a picture without a vehicle. */
const ANSWERS = [
  ['vehicle.segment', car, { vehicles: some }, { vehicles: [] }],
  ['vehicle.pose', car, { view: valued('front_left') }, { view: null }],
  ['vehicle.identify', car, { color: valued(expect.any(String)) }, { color: null, body_type: null, make: null }],
  ['parts.recognize', car, { parts: some }, { parts: [] }],
  ['parts.segment', car, { parts: some }, { parts: [] }],
  ['parts.decompose', car, { parts: some }, { parts: [] }],
  ['tire.detect', car, { tires: some }, { tires: [] }],
  ['damage.detect', scuffed, { damages: some, parts_seen: some }, { damages: [] }],
  ['damage.severity', scuffed, { damages: some }, { damages: [] }],
  ['vehicle.analyze', car, { images: some, charged_credits: expect.any(Number) }, { images: some }],
] as const;

/** These take several pictures of one vehicle. */
const OF_PICTURES = new Set<string>(['vehicle.identify', 'vehicle.analyze']);

const processes = useProcesses();
let service: RunningService;
let client: VehicleInferenceClient;

beforeAll(async () => {
  service = await startWholeService(processes, mkdtempSync(join(tmpdir(), 'live-sight-')));
  client = new VehicleInferenceClient({ apiKey: service.description.keys.live, baseUrl: service.description.apiUrl });
  for (const [endpoint] of ANSWERS) await untilAvailable(client, endpoint);
  await untilAvailable(client, 'inspections');
});
afterAll(() => service.process.stop());

it.each(ANSWERS)('%s returns a result, and nothing without a vehicle', async (endpoint, image, expected, nothing) => {
  const given = (bytes: Uint8Array<ArrayBuffer>) =>
    OF_PICTURES.has(endpoint) ? { images: [bytes] } : { image: bytes };
  const seen = await client.run(endpoint, given(image));
  const empty = await client.run(endpoint, given(noVehicle));
  expect([seen.status, empty.status, seen.livemode]).toEqual(['succeeded', 'succeeded', true]);
  expect(seen.credits?.charged).toBeGreaterThan(0);
  expect(seen.result).toMatchObject(expected);
  expect(empty.result).toMatchObject(nothing);
});

it('an inspection of eight views states them, the scuffed bumper and the parts, and has a report', async () => {
  const { status, livemode, result } = await client.waitFor(await client.submit('inspections', { images: drawn }));
  expect([status, livemode, result?.missing_views]).toEqual(['succeeded', true, []]);
  expect(result?.views.map(({ view }) => view?.value)).toEqual([
    'front_left',
    'front',
    'front_right',
    'rear_right',
    'right',
    'rear',
    'rear_left',
    'left',
  ]);
  expect(result?.parts.find(({ damages }) => damages.length > 0)?.part).toBe('rear_bumper');
  const report = await fetch(result?.report?.url ?? '');
  expect(
    Buffer.from(await report.arrayBuffer())
      .subarray(0, 5)
      .toString(),
  ).toBe('%PDF-');
});
