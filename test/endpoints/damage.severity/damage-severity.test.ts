import { expect, test } from 'vitest';
import type { Result as Detection } from '../../../src/endpoints/damage.detect/result.ts';
import { applyParameters } from '../../../src/endpoints/damage.severity/apply-parameters.ts';
import { damageSeverity } from '../../../src/endpoints/damage.severity/contract.ts';
import type { Parameters } from '../../../src/endpoints/damage.severity/request.ts';
import type { Result } from '../../../src/endpoints/damage.severity/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, multipartRefusal, parameterRefusal } from '../../support/refusals.ts';
import { testModeOutcome } from '../../support/test-mode.ts';

const SLUG = 'damage.severity';
const JOB_ID = 'job_1111111111111111111111';
const whole = fixtureOf<Result>(SLUG);
const detection = fixtureOf<Detection>('damage.detect');
const bbox = { x: 10, y: 20, width: 30, height: 40 };

test.each([
  [{ damages: [] }, { code: 'parameter_invalid', param: 'damages' }],
  [{ damages: Array(51).fill({ bbox }) }, { code: 'parameter_invalid', param: 'damages' }],
  [{ damages: bbox }, { code: 'parameter_invalid', param: 'damages' }],
  [{ damages: [{}] }, { code: 'parameter_missing', param: 'damages.0.bbox' }],
  [{ damages: [{ bbox: { ...bbox, x: -1 } }] }, { code: 'parameter_invalid', param: 'damages.0.bbox.x' }],
  [{ damages: [{ bbox }, { bbox, type: 'dust' }] }, { code: 'parameter_invalid', param: 'damages.1.type' }],
  [{ damages: [{ bbox, id: 'a b' }] }, { code: 'parameter_invalid', param: 'damages.0.id' }],
  [{ damages: [{ bbox, colour: 'red' }] }, { code: 'parameter_unknown', param: 'damages.0.colour' }],
  [{ damage_job_id: 'upl_1111111111111111111111' }, { code: 'parameter_invalid', param: 'damage_job_id' }],
  [{ damage_job_id: 7 }, { code: 'parameter_invalid', param: 'damage_job_id' }],
  [{ regions: [{ bbox }] }, { code: 'parameter_unknown', param: 'regions' }],
  [{ damages: [{ bbox }] }, null],
  [{ damages: detection.damages }, null],
  [{ damage_job_id: JOB_ID }, null],
  [{}, null],
])('damage.severity validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(damageSeverity, parameters)).toEqual(refusal);
});

test('damage.severity requires a picture and refuses a repeated parameter', () => {
  expect(jsonRefusal(damageSeverity, {})).toEqual({ code: 'parameter_missing', param: 'input_ref' });
  expect(multipartRefusal(damageSeverity, { damage_job_id: [JOB_ID, JOB_ID] })).toMatchObject({
    param: 'damage_job_id',
  });
});

test.each<[Parameters, string | null]>([
  [{ damages: [{ bbox }], damage_job_id: JOB_ID }, 'damage_job_id'],
  [{ damages: [{ bbox }, { bbox: { ...bbox, width: 0 } }] }, 'damages.1.bbox'],
  [{ damages: [{ bbox, id: 'a' }, { bbox }, { bbox, id: 'a' }] }, 'damages.2.id'],
  [{ damages: [{ bbox, id: 'a' }, { bbox }, { bbox }] }, null],
  [{ damage_job_id: JOB_ID }, null],
  [{}, null],
])('damage.severity refuses what the schema cannot express in %j', (parameters, param) => {
  expect(damageSeverity.refine?.({ parameters, files: [] })?.param ?? null).toBe(param);
});

test('damage.severity accepts damage.detect jobs as damage_job_id', () => {
  expect(damageSeverity.jobReferences).toEqual([
    { parameter: 'damage_job_id', endpoints: ['damage.detect'], samePicture: ['damage.detect'] },
  ]);
});

test('damage.severity grades each requested damage in order and keeps its stated properties', () => {
  const requested: NonNullable<Parameters['damages']> = [
    { id: 'mine', bbox, type: 'rust', part: 'hood', side: 'none' },
    { bbox },
    ...detection.damages,
  ];
  const { damages } = applyParameters(whole, { damages: requested });
  expect(damages).toHaveLength(6);
  expect(damages[0]).toMatchObject({ id: 'mine', bbox, type: 'rust', part: 'hood', side: 'none' });
  expect(damages[1]).toMatchObject({ id: 'damage_2', bbox });
  const { type, part, side } = detection.damages[3] ?? {};
  expect(damages[5]).toMatchObject({ type, part, side });
});

test('damage.severity returns the grades of the fixture without damages, and none for empty_result', () => {
  expect(applyParameters(whole, {})).toEqual(whole);
  expect(applyParameters(whole, { damage_job_id: JOB_ID })).toEqual(whole);
  expect(applyParameters(fixtureOf<Result>(SLUG, 'empty_result'), { damages: [{ bbox }] }).damages).toEqual([]);
});

test('damage.severity grades the damages of the damage.detect fixture in the default fixture', () => {
  const places = ({ id, type, part, side, bbox }: Detection['damages'][number] | Result['damages'][number]) => {
    return { id, type, part, side, bbox };
  };
  const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);
  expect(whole.damages.map(places).sort(byId)).toEqual(detection.damages.map(places).sort(byId));
});

test('the vehicle of the scenario total_loss is not drivable and not worth repairing', () => {
  expect(fixtureOf<Result>(SLUG, 'total_loss').overall).toMatchObject({
    severity: { value: 'critical' },
    drivable: { value: false },
    total_loss: { value: true },
  });
});

test('the default fixture of damage.severity lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});

test('damage.severity grades the damages of the named job under their ids', async () => {
  const named = { ...detection, damages: detection.damages.slice(1, 3) };
  const { result } = await testModeOutcome<Result>(damageSeverity, {
    parameters: { damage_job_id: JOB_ID },
    results: { [JOB_ID]: named },
  });
  expect(result.damages.map(({ id, type, part, side, bbox }) => ({ id, type, part, side, bbox }))).toEqual(
    named.damages.map(({ id, type, part, side, bbox }) => ({ id, type, part, side, bbox })),
  );
});
