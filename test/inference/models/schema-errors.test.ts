/** What is said of a `model.json` that does not fit a schema. */

import { type TSchema, Type } from 'typebox';
import { expect, test } from 'vitest';
import { createSchemaCheck } from '../../../src/inference/models/schema-errors.ts';

function problems(schema: TSchema, value: unknown): string {
  const check = createSchemaCheck(schema);
  expect(check.isValid(value)).toBe(false);
  return check.problems();
}

const vehicle = Type.Object(
  { make: Type.String({ minLength: 1 }), until: Type.Union([Type.Integer({ minimum: 1885 }), Type.Null()]) },
  { additionalProperties: false },
);
const labels = Type.Object({ labels: Type.Array(Type.Union([Type.String(), vehicle, Type.Null()])) });

test('the error for a value of another type lists the allowed types', () => {
  expect(problems(labels, { labels: ['a', 5, null] })).toBe('labels.1 must be string, object or null');
});

test("an error states only the requirements of the value's own type", () => {
  expect(problems(labels, { labels: [{ until: null }] })).toBe("labels.0 must have required property 'make'");
  expect(problems(labels, { labels: [{ make: 'A', until: 1800 }] })).toBe('labels.0.until must be >= 1885');
  expect(problems(labels, { labels: [{ make: 'A', until: 'now' }] })).toBe('labels.0.until must be integer or null');
  expect(problems(labels, { labels: [null, { make: 'A', untill: null }] })).toBe(
    "labels.1 must have required property 'until'; labels.1 must not have the property 'untill': 'until' may be meant",
  );
});

test('an error names a field with several problems once', () => {
  expect(problems(Type.Object({ megabytes: Type.Integer({ minimum: 1 }) }), { megabytes: 0.5 })).toBe(
    'megabytes must be integer',
  );
});

test('an error lists the first problems and counts the others', () => {
  const clauses = problems(labels, { labels: Array(80).fill(1) }).split('; ');
  expect(clauses).toHaveLength(6);
  expect(clauses.slice(4)).toEqual(['labels.4 must be string, object or null', 'and 75 more']);
});

test('an error names a list without a required item, not each item', () => {
  const list = Type.Object({ labels: Type.Array(Type.Unknown(), { contains: { not: { const: null } } }) });
  expect(problems(list, { labels: [null, null] })).toBe('labels must not be null throughout');
  expect(problems(list, { labels: [] })).toBe('labels must not be null throughout');
});

test('an error prints a name with a slash unescaped', () => {
  const outputs = Type.Record(Type.String(), Type.Number());
  expect(problems(outputs, { 'StatefulPartitionedCall/out~put': 'x' })).toBe(
    'StatefulPartitionedCall/out~put must be number',
  );
});

test.each([
  ['lables', 'labels'],
  ['crpo', 'crop'],
  ['warmup', 'warmUp'],
  ['memory_mb', 'memoryMb'],
  ['color', 'colour'],
  ['fliter', 'filter'],
  ['batchs', 'batch'],
])('the error for the unknown field %s suggests that %s may be meant', (written, meant) => {
  const names = ['labels', 'crop', 'warmUp', 'memoryMb', 'colour', 'filter', 'batch', 'pad', 'std', 'mean', 'uses'];
  const schema = Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Unknown())])), {
    additionalProperties: false,
  });
  expect(problems(schema, { [written]: 1 })).toBe(
    `model.json must not have the property '${written}': '${meant}' may be meant`,
  );
});

test('the error for an unknown field without a near match lists the known fields', () => {
  const schema = Type.Object({ output: Type.String(), score: Type.Number() }, { additionalProperties: false });
  expect(problems(schema, { output: 'a', score: 1, overlap: 1 })).toBe(
    "model.json must not have the property 'overlap', only output, score",
  );
});
