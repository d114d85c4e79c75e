import { expect, test } from 'vitest';
import {
  DATE_FIELDS,
  DOCUMENT_TYPES,
  MONEY_FIELDS,
  NUMBER_FIELDS,
  TEXT_FIELDS,
} from '../../../src/contracts/vocabulary/documents.ts';
import { documentRead } from '../../../src/endpoints/document.read/contract.ts';
import type { Result } from '../../../src/endpoints/document.read/result.ts';
import { fixtureOf, placesOutsideExample } from '../../support/example-pictures.ts';
import { jsonRefusal, parameterRefusal, UPLOAD_ID } from '../../support/refusals.ts';

const SLUG = 'document.read';

test.each<[Record<string, unknown>, { code: string; param: string } | null]>([
  [{ document_type_hint: 'passport' }, { code: 'parameter_invalid', param: 'document_type_hint' }],
  [{ document_type_hint: false }, { code: 'parameter_invalid', param: 'document_type_hint' }],
  [{ country_hint: 'Germany' }, { code: 'parameter_invalid', param: 'country_hint' }],
  [{ country_hint: null }, { code: 'parameter_invalid', param: 'country_hint' }],
  [{ language: 'de' }, { code: 'parameter_unknown', param: 'language' }],
  [{ country_hint: 'DE' }, null],
  [{}, null],
  ...DOCUMENT_TYPES.map(
    (document_type_hint) => [{ document_type_hint }, null] as [{ document_type_hint: string }, null],
  ),
])('document.read validates the parameters %j', (parameters, refusal) => {
  expect(parameterRefusal(documentRead, parameters)).toEqual(refusal);
});

test.each([
  [0, { code: 'parameter_invalid', param: 'input_refs' }],
  [1, null],
  [4, null],
  [5, { code: 'parameter_invalid', param: 'input_refs' }],
])('document.read accepts 1 to 4 pictures: %i', (count, refusal) => {
  expect(jsonRefusal(documentRead, { input_refs: Array(count).fill(UPLOAD_ID) })).toEqual(refusal);
});

test('document.read gives every field name one type', () => {
  const names = [...TEXT_FIELDS, ...DATE_FIELDS, ...NUMBER_FIELDS, ...MONEY_FIELDS];
  expect(new Set(names).size).toBe(names.length);
});

test('the amounts of the invoice add up in minor units', () => {
  const { fields } = fixtureOf<Result>(SLUG, 'invoice');
  const amount = (wanted: string) => fields.find(({ name }) => name === wanted)?.value;
  expect(amount('total_amount')).toBe(Number(amount('net_amount')) + Number(amount('tax_amount')));
  expect(new Set(fields.map(({ image_index }) => image_index))).toEqual(new Set([0, 1]));
});

test('the scenario unreadable_document has a type and issues, but no fields', () => {
  const { document_type, fields, issues } = fixtureOf<Result>(SLUG, 'unreadable_document');
  expect(document_type?.value).toBe('registration_certificate');
  expect(fields).toEqual([]);
  expect(issues.map(({ reason }) => reason)).toEqual(['blurred', 'reflections']);
});

test('the default fixture of document.read lies within the example picture', async () => {
  expect(await placesOutsideExample(SLUG)).toEqual([]);
});
