/** The problems of a `model.json`, by field, for its author. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { nearestName } from './nearest-name.ts';

/** A thousand wrong labels are one mistake. */
const MOST_PROBLEMS = 5;

export function createSchemaCheck<Schema extends TSchema>(
  schema: Schema,
): { isValid(value: unknown): value is Static<Schema>; problems(): string } {
  const ajv = new Ajv2020({ strict: true, allErrors: true, discriminator: true, verbose: true });
  addFormats.default(ajv, ['date']);
  const validate = ajv.compile<Static<Schema>>(schema);
  return {
    isValid: (value): value is Static<Schema> => validate(value),
    problems: () => {
      const problems = onePerField(withoutBranches(validate.errors ?? [])).map(describe);
      const others = problems.length - MOST_PROBLEMS;
      return problems
        .slice(0, MOST_PROBLEMS)
        .concat(others > 0 ? [`and ${others} more`] : [])
        .join('; ');
    },
  };
}

/**
 * Ajv lists the errors of each branch before that of the union. If the value has the type of one branch, this keeps that
 * branch's errors, and otherwise only the union's. For `contains` it drops the errors of the items.
 */
function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
  const settled: ErrorObject[] = [];
  for (const error of errors) {
    if (error.keyword !== 'anyOf' && error.keyword !== 'contains') {
      settled.push(error);
      continue;
    }
    let start = settled.length;
    while (start > 0 && isWithin(settled[start - 1], error)) start -= 1;
    const inner = settled.splice(start);
    const branches = error.keyword === 'contains' ? [] : Object.values(Object.groupBy(inner, branchIn(error)));
    const meant = branches.find((branch) => branch?.every((each) => !isOfAnotherKind(each, error)));
    settled.push(...(meant ?? [error]));
  }
  return settled;
}

function isWithin(inner: ErrorObject | undefined, { schemaPath, instancePath }: ErrorObject): boolean {
  if (!inner) return false;
  return inner.schemaPath.startsWith(`${schemaPath}/`) && `${inner.instancePath}/`.startsWith(`${instancePath}/`);
}

/** The branch of a union that an error belongs to. */
function branchIn({ schemaPath }: ErrorObject): (inner: ErrorObject) => string {
  return (inner) => inner.schemaPath.slice(schemaPath.length + 1).split('/', 1)[0] ?? '';
}

function isOfAnotherKind({ keyword, instancePath }: ErrorObject, union: ErrorObject): boolean {
  return instancePath === union.instancePath && ['type', 'const', 'enum', 'anyOf'].includes(keyword);
}

/** Keeps the first error per field; each missing or surplus property counts as its own field. */
function onePerField(errors: readonly ErrorObject[]): ErrorObject[] {
  const seen = new Set<string>();
  return errors.filter(({ instancePath, keyword }) => {
    if (keyword === 'required' || keyword === 'additionalProperties') return true;
    return !seen.has(instancePath) && seen.add(instancePath);
  });
}

function describe({ instancePath, keyword, message, params, parentSchema }: ErrorObject): string {
  const field = nameOf(instancePath) || 'model.json';
  switch (keyword) {
    case 'additionalProperties':
      return `${field} must not have the property ${aboutUnknown(params.additionalProperty as string, parentSchema)}`;
    case 'anyOf':
      return `${field} must be ${oneOf((parentSchema as { anyOf: Branch[] }).anyOf.map(kindOf))}`;
    case 'contains':
      return `${field} must not be null throughout`;
    case 'uniqueItems':
      return `${field} must not hold a value twice`;
    case 'discriminator':
      return `${field}.${params.tag as string} must be one of ${tagsOf(parentSchema).join(', ')}`;
    case 'enum':
      return `${field} must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}`;
    case 'format':
      return `${field} must be a calendar date, YYYY-MM-DD`;
    case 'const':
      return `${field} must be ${String(params.allowedValue)}`;
    default:
      return `${field} ${message}`;
  }
}

/** A JSON pointer in dotted form. */
function nameOf(pointer: string): string {
  const names = pointer.slice(1).split('/');
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

function aboutUnknown(name: string, schema: unknown): string {
  const known = Object.keys((schema as { properties?: object }).properties ?? {});
  const meant = nearestName(name, known);
  return `'${name}'${meant === undefined ? `, only ${known.join(', ')}` : `: '${meant}' may be meant`}`;
}

interface Branch {
  type?: string;
  const?: unknown;
  enum?: readonly unknown[];
}

function kindOf({ type, const: value, enum: values = [value] }: Branch): string {
  return type ?? values.map(String).join(', ');
}

function oneOf(kinds: readonly string[]): string {
  return kinds.length < 2 ? kinds.join() : `${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`;
}

function tagsOf(schema: unknown): string[] {
  const { oneOf: branches = [], discriminator } = schema as {
    oneOf?: { properties: Record<string, { const?: string }> }[];
    discriminator?: { propertyName: string };
  };
  return branches.flatMap(({ properties }) => properties[discriminator?.propertyName ?? '']?.const ?? []);
}
