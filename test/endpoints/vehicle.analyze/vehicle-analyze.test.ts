import { describe, expect, test } from 'vitest';
import { endpointBySlug } from '../../../src/endpoints/list.ts';
import { TASKS } from '../../../src/endpoints/shared/bundled-tasks.ts';
import { vehicleAnalyze } from '../../../src/endpoints/vehicle.analyze/contract.ts';
import { DEFAULT_TASKS } from '../../../src/endpoints/vehicle.analyze/request.ts';
import type { Result } from '../../../src/endpoints/vehicle.analyze/result.ts';
import { fixtureOf, placesOutside } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal, UPLOAD_ID } from '../../support/refusals.ts';
import { testModeOutcome } from '../../support/test-mode.ts';

const all = { tasks: [...TASKS] };
const jpegs = (count: number) => Array<string>(count).fill('image/jpeg');
const priceOf = (slugs: readonly string[]) => slugs.reduce((sum, slug) => sum + endpointBySlug(slug).priceCredits, 0);
const outcomesOf = (result: Result) => result.images.flatMap(({ outcomes }) => Object.values(outcomes));

describe('the request', () => {
  test('vehicle.analyze accepts 1 to 40 pictures', () => {
    expect(jsonRefusal(vehicleAnalyze, {})).toEqual({ code: 'parameter_missing', param: 'input_refs' });
    const refusal = { code: 'parameter_invalid', param: 'input_refs' };
    expect(jsonRefusal(vehicleAnalyze, { input_refs: [] })).toEqual(refusal);
    expect(jsonRefusal(vehicleAnalyze, { input_refs: Array(40).fill(UPLOAD_ID) })).toBeNull();
    expect(jsonRefusal(vehicleAnalyze, { input_refs: Array(41).fill(UPLOAD_ID) })).toEqual(refusal);
  });

  test.each([
    [{ tasks: [] }, 'parameter_invalid', 'tasks'],
    [{ tasks: 'vin.read' }, 'parameter_invalid', 'tasks'],
    [{ tasks: ['vin.read', 'vin.read'] }, 'parameter_invalid', 'tasks'],
    [{ tasks: ['render.plate'] }, 'parameter_invalid', 'tasks.0'],
    [{ tasks: ['vehicle.analyze'] }, 'parameter_invalid', 'tasks.0'],
    [{ parts: ['hood'] }, 'parameter_unknown', 'parts'],
  ])('vehicle.analyze refuses the parameters %j', (parameters, code, param) => {
    expect(parameterRefusal(vehicleAnalyze, parameters)).toEqual({ code, param });
  });

  test('vehicle.analyze accepts every fast endpoint of the families A and B in both encodings', () => {
    expect(parameterRefusal(vehicleAnalyze, all)).toBeNull();
    expect(multipartRefusal(vehicleAnalyze, { tasks: [...TASKS] })).toBeNull();
    expect(multipartRefusal(vehicleAnalyze, { tasks: 'vin.read' })).toBeNull();
    for (const task of TASKS) expect(endpointBySlug(task).acceptsWait).toBe(true);
  });

  test('vehicle.analyze costs the endpoint prices times the pictures', () => {
    const files = [{ mediaType: 'image/jpeg' }, { mediaType: 'image/png' }];
    expect(vehicleAnalyze.price({ parameters: {}, files })).toBe(2 * priceOf(DEFAULT_TASKS));
    expect(vehicleAnalyze.price({ parameters: all, files })).toBe(2 * priceOf(TASKS));
    expect(vehicleAnalyze.priceCredits).toBe(priceOf(DEFAULT_TASKS));
  });
});

describe('test mode', () => {
  test.each([1, 2, 5])(
    'vehicle.analyze returns and charges one outcome per requested endpoint for %d pictures',
    async (count) => {
      for (const tasks of [[...DEFAULT_TASKS], [...TASKS], ['vin.read']]) {
        const { status, result, chargedCredits, reservedCredits } = await testModeOutcome<Result>(vehicleAnalyze, {
          parameters: { tasks },
          mediaTypes: jpegs(count),
        });
        expect(status).toBe('succeeded');
        expect(result.images.map(({ image_index }) => image_index)).toEqual(Array.from({ length: count }, (_, i) => i));
        for (const { outcomes } of result.images) expect(Object.keys(outcomes).toSorted()).toEqual(tasks.toSorted());
        expect(chargedCredits).toBe(reservedCredits);
        expect(result.charged_credits).toBe(chargedCredits);
      }
    },
  );

  test('vehicle.analyze charges the successful outcomes of a partial bundle and states the errors of the others', async () => {
    const { status, result, chargedCredits, reservedCredits } = await testModeOutcome<Result>(vehicleAnalyze, {
      scenario: 'partial_bundle',
      mediaTypes: jpegs(2),
    });
    expect(status).toBe('partial');
    expect(chargedCredits).toBe(reservedCredits - priceOf(DEFAULT_TASKS) - priceOf(['damage.detect']));
    const failed = outcomesOf(result).filter((outcome) => outcome.status === 'failed');
    expect(failed).toHaveLength(DEFAULT_TASKS.length + 1);
    for (const { result: nothing, error, charged_credits } of failed) {
      expect({ nothing, charged_credits }).toEqual({ nothing: null, charged_credits: 0 });
      expect(error?.type).toBe('processing_error');
    }
  });

  test('vehicle.analyze summarises the most confident reading of each requested fact', async () => {
    const whole = await testModeOutcome<Result>(vehicleAnalyze, { parameters: all, mediaTypes: jpegs(2) });
    expect(whole.result.summary).toEqual(fixtureOf<Result>(vehicleAnalyze.slug).summary);
    const some = await testModeOutcome<Result>(vehicleAnalyze, { parameters: { tasks: ['plate.read'] } });
    expect(some.result.summary).toEqual({
      views: [],
      vehicle: null,
      body_type: null,
      color: null,
      vin: null,
      odometer: null,
      plate: expect.objectContaining({ text: 'VIS2047', source_index: 0 }),
    });
  });

  test.each(['default', 'empty_result', 'low_confidence', 'partial_bundle'])(
    'vehicle.analyze charges every successful outcome of %s the price of its endpoint',
    (scenario) => {
      for (const { outcomes } of fixtureOf<Result>(vehicleAnalyze.slug, scenario).images) {
        expect(Object.keys(outcomes)).toEqual([...TASKS]);
        for (const [slug, { status, charged_credits }] of Object.entries(outcomes)) {
          expect(charged_credits).toBe(status === 'failed' ? 0 : priceOf([slug]));
        }
      }
    },
  );

  test('vehicle.analyze keeps the outcomes of the first picture within it', async () => {
    const { result } = await testModeOutcome<Result>(vehicleAnalyze, { parameters: all });
    expect(placesOutside(result.images[0], { width: 600, height: 400 })).toEqual([]);
  });
});
