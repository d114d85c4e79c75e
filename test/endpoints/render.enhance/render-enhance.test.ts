import { expect, test } from 'vitest';
import { ENHANCE_OPERATIONS } from '../../../src/contracts/vocabulary/renders.ts';
import { applyParameters, type Fixture } from '../../../src/endpoints/render.enhance/apply-parameters.ts';
import { renderEnhance } from '../../../src/endpoints/render.enhance/contract.ts';
import type { Result } from '../../../src/endpoints/render.enhance/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { missizedPictures } from '../../support/fixture-artefacts.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';
import { testModeOutcome } from '../../support/test-mode.ts';

const SLUG = 'render.enhance';
const whole = fixtureOf<Fixture>(SLUG);
const invalid = (param: string) => ({ code: 'parameter_invalid', param });

test.each([
  [{ enhancer_model: 'gan' }, invalid('enhancer_model')],
  [{ enhancer_model: 'GAN' }, null],
  [{ enhancer_model: 'fine_grain' }, null],
  [{ operations: [] }, invalid('operations')],
  [{ operations: ['dehaze'] }, invalid('operations.0')],
  [{ operations: ['denoise', 'denoise'] }, invalid('operations')],
  [{ operations: 'denoise' }, invalid('operations')],
  [{ operations: [...ENHANCE_OPERATIONS] }, null],
  [{ upscale_factor: 3 }, invalid('upscale_factor')],
  [{ upscale_factor: '2' }, invalid('upscale_factor')],
  [{ upscale_factor: 1 }, null],
  [{ upscale_factor: 4 }, null],
  [{ strength: -0.01 }, invalid('strength')],
  [{ strength: 1.01 }, invalid('strength')],
  [{ strength: 0, fidelity: 1 }, null],
  [{ fidelity: '0.5' }, invalid('fidelity')],
  [{ fidelity: null }, invalid('fidelity')],
  [{ output_format: 'jpeg' }, invalid('output_format')],
  [{ output_format: 'png' }, null],
  [{ model: 'GAN' }, { code: 'parameter_unknown', param: 'model' }],
  [{}, null],
])('render.enhance validates the parameters %j as specified', (parameters, refusal) => {
  expect(parameterRefusal(renderEnhance, parameters)).toEqual(refusal);
});

test('render.enhance requires a picture and converts multipart text to numbers and lists', () => {
  expect(jsonRefusal(renderEnhance, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(renderEnhance, { upscale_factor: '2', strength: '0.4', operations: 'denoise' })).toBeNull();
  expect(multipartRefusal(renderEnhance, { operations: ['denoise', 'sharpen'] })).toBeNull();
  expect(multipartRefusal(renderEnhance, { upscale_factor: '8' })).toEqual(invalid('upscale_factor'));
  expect(multipartRefusal(renderEnhance, { strength: ['0.1', '0.2'] })).toEqual(invalid('strength'));
});

test.each([
  [{}, 100],
  [{ enhancer_model: 'GAN', upscale_factor: 4 }, 100],
  [{ enhancer_model: 'fine_grain' }, 300],
])('an enhancement with %j costs %d credits', (parameters, credits) => {
  expect(renderEnhance.price({ parameters, files: [] })).toBe(credits);
});

test('render.enhance applies the operations that the picture needs by default', () => {
  const { operations_applied, operations_skipped, enhancer_model } = applyParameters(whole, {});
  expect(operations_applied).toEqual(whole.operations_applied);
  expect(operations_skipped).toEqual([]);
  expect(enhancer_model).toBe('GAN');
});

test('render.enhance applies each requested operation or skips it with a reason', () => {
  const result = applyParameters(whole, { operations: ['denoise', 'deblur', 'upscale'], enhancer_model: 'fine_grain' });
  expect(result.enhancer_model).toBe('fine_grain');
  expect(result.operations_applied.map(({ operation }) => operation)).toEqual(['denoise']);
  expect(result.operations_skipped).toEqual([
    { operation: 'deblur', reason: 'not_needed' },
    { operation: 'upscale', reason: 'upscale_factor_is_1' },
  ]);
});

test.each([2, 4] as const)(
  'render.enhance enlarges the picture by %d even if operations does not list upscale',
  (factor) => {
    const { image, operations_applied, after } = applyParameters(whole, {
      upscale_factor: factor,
      operations: ['denoise'],
      output_format: 'png',
    });
    const size = { width: whole.before.width * factor, height: whole.before.height * factor };
    expect(image).toMatchObject({ file: `enhanced-${factor}x.png`, ...size });
    expect(after).toMatchObject(size);
    expect(operations_applied.at(-1)).toMatchObject({ operation: 'upscale', parameters: { factor } });
  },
);

test('the scenario every_operation applies every operation with an enlargement', () => {
  const { operations_applied } = applyParameters(fixtureOf<Fixture>(SLUG, 'every_operation'), { upscale_factor: 2 });
  expect(operations_applied.map(({ operation }) => operation).sort()).toEqual([...ENHANCE_OPERATIONS].sort());
});

test('the scenario nothing_to_improve applies nothing and keeps the scores', () => {
  const { operations_applied, before, after } = applyParameters(fixtureOf<Fixture>(SLUG, 'nothing_to_improve'), {});
  expect(operations_applied).toEqual([]);
  expect(after.quality).toEqual(before.quality);
});

test.each([
  [{}, 'nothing_to_improve', 0],
  [{ upscale_factor: 2 }, 'nothing_to_improve', 100],
  [{ operations: ['deblur'], enhancer_model: 'fine_grain' }, undefined, 0],
  [{ enhancer_model: 'fine_grain' }, undefined, 300],
])(
  'render.enhance charges for applied operations only: %j in %s costs %d credits',
  async (parameters, scenario, credits) => {
    const outcome = await testModeOutcome<Result>(renderEnhance, { parameters, ...(scenario && { scenario }) });
    expect(outcome).toMatchObject({ status: 'succeeded', chargedCredits: credits });
  },
);

test('the scenario would_do_harm states that reason for requested operations only', () => {
  const fixture = fixtureOf<Fixture>(SLUG, 'would_do_harm');
  expect(applyParameters(fixture, { operations: ['sharpen', 'denoise'] }).operations_skipped).toEqual([
    { operation: 'sharpen', reason: 'would_do_harm' },
  ]);
  expect(applyParameters(fixture, {}).operations_skipped).toEqual([]);
});

test('the fixtures of render.enhance lie within the example picture, with files of the stated sizes', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
  expect(await missizedPictures(SLUG)).toEqual([]);
});
