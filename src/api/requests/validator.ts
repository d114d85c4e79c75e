import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { ServiceError } from '../../platform/service-error.ts';

/** Longer lists are not spelled out in the message. */
const MAXIMUM_LISTED_VALUES = 100;

export type Validate = (value: Record<string, unknown>) => void;

/** JSON carries types; multipart carries text, which is coerced to the schema's types. */
const compilers = {
  json: createCompiler(false),
  multipart: createCompiler('array'),
};

function createCompiler(coerceTypes: false | 'array'): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allErrors: false, useDefaults: true, coerceTypes });
  addFormats.default(ajv);
  return ajv;
}

/** Compiles a schema into a check that fills in defaults and throws a ServiceError naming the invalid field. */
export function compileValidator(schema: TSchema, encoding: keyof typeof compilers): Validate {
  const validate: ValidateFunction = compilers[encoding].compile(schema);
  const { properties = {} } = schema as { properties?: Readonly<Record<string, { type?: unknown }>> };
  return (value) => {
    if (encoding === 'multipart') refuseUnreadableText(value, properties);
    if (!validate(value)) throw asServiceError(validate.errors?.[0]);
    const param = Object.keys(value).find((name) => !isStorable(value[name]));
    if (param === undefined) return;
    throw new ServiceError('parameter_invalid', `"${param}" contains a NUL or an unpaired surrogate. Remove it.`, {
      param,
    });
  };
}

/** A number as JSON writes it (RFC 8259). */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Ajv coerces ` 3 ` and `0x1` to numbers, and `1e999` to Infinity, which passes every bound and has no JSON form. */
function refuseUnreadableText(
  value: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, { type?: unknown }>>,
): void {
  for (const [param, { type }] of Object.entries(properties)) {
    const given = value[param];
    if (Array.isArray(given) && type !== 'array') {
      throw new ServiceError('parameter_invalid', `"${param}" was given more than once. Send it once.`, { param });
    }
    if (typeof given !== 'string' || (type !== 'integer' && type !== 'number')) continue;
    if (JSON_NUMBER.test(given) && Number.isFinite(Number(given))) continue;
    const wanted = type === 'integer' ? 'an integer in decimal digits, such as 3' : 'a decimal number, such as 0.5';
    throw new ServiceError('parameter_invalid', `"${param}" must be ${wanted}.`, { param });
  }
}

/** Whether PostgreSQL's JSON can store the value. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, inner]) => isStorable(name) && isStorable(inner));
}

function asServiceError(error: ErrorObject | undefined): ServiceError {
  const at = error?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  const inside = (name: string) => (at ? `${at}.${name}` : name);
  switch (error?.keyword) {
    case 'additionalProperties': {
      const param = inside(String(error.params.additionalProperty));
      return new ServiceError('parameter_unknown', `"${param}" is not a parameter of this endpoint. Remove it.`, {
        param,
      });
    }
    case 'required': {
      const param = inside(String(error.params.missingProperty));
      return new ServiceError('parameter_missing', `"${param}" is required.`, { param });
    }
    case 'enum': {
      const allowed: unknown[] = error.params.allowedValues;
      if (allowed.length > MAXIMUM_LISTED_VALUES) {
        const message = `"${at}" must be one of the ${allowed.length} values that /openapi.json lists.`;
        return new ServiceError('parameter_invalid', message, { param: at });
      }
      return new ServiceError('parameter_invalid', `"${at}" must be one of ${allowed.join(', ')}.`, { param: at });
    }
    default:
      return new ServiceError('parameter_invalid', at ? `"${at}" ${error?.message}.` : `The body ${error?.message}.`, {
        param: at || undefined,
      });
  }
}
