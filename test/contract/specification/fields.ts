/** Rows of fields, as the specification's tables list them, and the check of a schema or a response against a row. */
import { expect } from 'vitest';
import type { OpenApiDocument } from '../../support/openapi-check.ts';

export interface Field {
  /** `a.b` is the field `b` of the object, or of the items of the list, `a`. */
  field: string;
  /** JSON types, with `null` where the table says "or null". */
  types: readonly ('string' | 'boolean' | 'integer' | 'number' | 'object' | 'array' | 'null')[];
  /** Absent from some objects of the kind. */
  optional?: true;
  values?: readonly unknown[];
  pattern?: string;
}

/** A field of a body, with values for each of its limits. */
export interface BodyField {
  field: string;
  accepts: readonly unknown[];
  refuses: readonly unknown[];
}

// ---- Answers -----------------------------------------------------------------------------------------------------

export type Fields = Record<string, unknown>;

/** The names of a table, in order. */
export const namesOf = (fields: readonly Field[]) => fields.map(({ field }) => field).toSorted();

/** Holds the field in all the objects together to its row: they have all of its types, and no other. */
export function expectFieldIn(objects: readonly Fields[], { field, types, values, pattern }: Field): void {
  const found = objects.map((object) => object[field]);
  expect(new Set(found.map(jsonTypeOf))).toEqual(new Set(types));
  for (const value of found) {
    if (values) expect(values).toContain(value);
    if (pattern !== undefined) expect(value).toMatch(new RegExp(pattern));
  }
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

/** A test for each value of each field. */
export const valuesOf = (body: readonly BodyField[], which: 'accepts' | 'refuses') =>
  body.flatMap((row) => row[which].map((value) => ({ field: row.field, value })));

// ---- Schemas -----------------------------------------------------------------------------------------------------

export type Schema = Record<string, unknown>;

export interface Schemas {
  named: (name: string) => Schema;
  /** Those of the field `a.b.c`, through unions and lists. */
  at: (schema: Schema, path: string) => Schema[];
  typesOf: (schemas: readonly Schema[]) => string[];
  expectField: (schema: Schema, row: Field) => void;
}

export function schemasOf(document: OpenApiDocument): Schemas {
  const named = (name: string) => document.components.schemas[name] as Schema;

  const resolve = (schema: Schema): Schema =>
    typeof schema.$ref === 'string' ? named(schema.$ref.replace('#/components/schemas/', '')) : schema;

  /** The schema and, of a union, what it is a union of. */
  function branches(schema: Schema): Schema[] {
    const found = resolve(schema);
    const parts = (found.anyOf ?? found.oneOf) as Schema[] | undefined;
    return parts ? parts.flatMap(branches) : [found];
  }

  const objectsIn = (schemas: readonly Schema[]) =>
    schemas
      .flatMap(branches)
      .flatMap((branch) => (branch.items ? branches(branch.items as Schema) : [branch]))
      .filter((branch) => branch.properties);

  const at = (schema: Schema, path: string) =>
    path.split('.').reduce<Schema[]>(
      (found, name) =>
        objectsIn(found).flatMap(({ properties }) => {
          const field = (properties as Record<string, Schema>)[name];
          return field ? [field] : [];
        }),
      [schema],
    );

  const allowedIn = (branch: Schema) => (branch.enum ?? ('const' in branch ? [branch.const] : [])) as unknown[];

  function typesOf(schemas: readonly Schema[]): string[] {
    const types = schemas
      .flatMap(branches)
      .flatMap((branch) =>
        branch.type === undefined
          ? allowedIn(branch).map((value) => (value === null ? 'null' : typeof value))
          : [branch.type as string],
      );
    return [...new Set(types)].toSorted();
  }

  function expectField(schema: Schema, { field, types, values, pattern, optional }: Field): void {
    const found = at(schema, field);
    expect(typesOf(found)).toEqual([...types].toSorted());
    if (values) expect(new Set(found.flatMap(branches).flatMap(allowedIn))).toEqual(new Set(values));
    if (pattern !== undefined) expect(found.flatMap(branches).map((branch) => branch.pattern)).toContain(pattern);
    const parent = field.split('.').slice(0, -1).join('.');
    const name = field.slice(parent === '' ? 0 : parent.length + 1);
    const objects = objectsIn(parent === '' ? [schema] : at(schema, parent));
    expect(objects).not.toHaveLength(0);
    for (const { required } of objects) expect((required as string[]).includes(name)).toBe(optional !== true);
  }

  return { named, at, typesOf, expectField };
}
