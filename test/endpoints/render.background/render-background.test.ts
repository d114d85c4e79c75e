import sharp from 'sharp';
import { expect, test } from 'vitest';
import { applyParameters, type Fixture } from '../../../src/endpoints/render.background/apply-parameters.ts';
import { renderBackground } from '../../../src/endpoints/render.background/contract.ts';
import { createFixtureBackend } from '../../../src/inference/backends/fixture-backend.ts';
import { standInArtefacts } from '../../inference/support/tiny-endpoint.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { missizedPictures, readFixtureFile } from '../../support/fixture-artefacts.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';

const SLUG = 'render.background';
const whole = fixtureOf<Fixture>(SLUG);
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

test.each([
  [{ scene: 'beach' }, { code: 'parameter_invalid', param: 'scene' }],
  [{ scene: null }, { code: 'parameter_invalid', param: 'scene' }],
  [{ background_color: 'white' }, { code: 'parameter_invalid', param: 'background_color' }],
  [{ background_color: '#fff' }, { code: 'parameter_invalid', param: 'background_color' }],
  [{ shadow: 'yes' }, { code: 'parameter_invalid', param: 'shadow' }],
  [{ output_format: 'gif' }, { code: 'parameter_invalid', param: 'output_format' }],
  [{ background: 'studio_white' }, { code: 'parameter_unknown', param: 'background' }],
  [{ scene: 'showroom', shadow: false, output_format: 'webp' }, null],
  [{ background_color: '#A0b1C2' }, null],
  [{}, null],
])('render.background validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(renderBackground, parameters)).toEqual(refusal);
});

test('render.background requires a picture and refuses a repeated parameter', () => {
  expect(jsonRefusal(renderBackground, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(renderBackground, { shadow: 'false' })).toBeNull();
  expect(multipartRefusal(renderBackground, { scene: ['showroom', 'forecourt'] })).toMatchObject({ param: 'scene' });
});

test.each([
  [{ scene: 'showroom', background_color: '#ffffff' }, 'background_color'],
  [{ scene: 'showroom' }, null],
  [{ background_color: '#ffffff' }, null],
  [{}, null],
])('render.background refuses two backgrounds at once: %j', (parameters, param) => {
  expect(renderBackground.refine({ parameters, files: [] })?.param ?? null).toBe(param);
});

test('render.background echoes the request in the result', () => {
  expect(applyParameters(whole, {})).toMatchObject({
    scene: 'studio_white',
    background_color: null,
    has_shadow: true,
    composite: { file: 'composite.jpg' },
  });
  expect(applyParameters(whole, { scene: 'forecourt', output_format: 'webp' })).toMatchObject({
    scene: 'forecourt',
    composite: { file: 'composite.webp' },
  });
  expect(applyParameters(whole, { background_color: '#A0B1C2', shadow: false })).toMatchObject({
    scene: null,
    background_color: '#a0b1c2',
    has_shadow: false,
  });
});

test('render.background succeeds without pictures and charges nothing without a vehicle, whatever the parameters', async () => {
  const endpointsDirectory = new URL('../../../src/endpoints/', import.meta.url);
  const backend = createFixtureBackend({
    logger: quiet,
    endpoints: [renderBackground],
    endpointsDirectory,
    writeArtefact: standInArtefacts,
  });
  const request = { jobId: 'job_1', endpoint: SLUG, livemode: false, inputs: [], reservedCredits: 100 };
  const outcome = await backend.infer(
    { ...request, parameters: { scene: 'showroom' }, testScenario: 'no_vehicle' },
    { signal: new AbortController().signal },
  );
  expect(outcome).toMatchObject({
    status: 'succeeded',
    chargedCredits: 0,
    result: { vehicle: null, cut_out: null, composite: null, scene: null },
  });
});

test('render.background makes the cut-out as large as the box, transparent around the vehicle', async () => {
  const { channels, width, height } = await sharp(readFixtureFile(SLUG, 'cut-out.png')).ensureAlpha().metadata();
  const { isOpaque } = await sharp(readFixtureFile(SLUG, 'cut-out.png')).stats();
  expect(isOpaque).toBe(false);
  expect({ channels, width, height }).toMatchObject({
    width: whole.vehicle?.source_bbox.width,
    height: whole.vehicle?.source_bbox.height,
  });
});

test('the default fixture of render.background lies within the example picture, with files of the stated sizes', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
  expect(await missizedPictures(SLUG)).toEqual([]);
});
