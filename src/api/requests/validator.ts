import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { ServiceError } from '../../domain/service-error.ts';

export type Validate = (value: Record<string, unknown>) => void;

/** JSON carries types; multipart carries text, which is turned into the type the schema asks for. */
const compilers = {
  json: createCompiler(false),
  multipart: createCompiler('array'),
};

function createCompiler(coerceTypes: false | 'array'): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, allErrors: false, useDefaults: true, coerceTypes });
  addFormats.default(ajv);
  return ajv;
}

/** Compiles a schema into a check that fills defaults in and throws a ServiceError naming the field that is wrong. */
export function compileValidator(schema: TSchema, encoding: keyof typeof compilers): Validate {
  const validate: ValidateFunction = compilers[encoding].compile(schema);
  return (value) => {
    if (!validate(value)) throw asServiceError(validate.errors?.[0]);
    const param = Object.keys(value).find((name) => !isStorable(value[name]));
    if (param === undefined) return;
    throw new ServiceError('parameter_invalid', `"${param}" holds a NUL or half a surrogate pair. Leave it out.`, {
      param,
    });
  };
}

/** Whether PostgreSQL's JSON can hold it. */
function isStorable(value: unknown): boolean {
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
      return new ServiceError('parameter_unknown', `"${param}" is not a parameter of this endpoint. Leave it out.`, {
        param,
      });
    }
    case 'required': {
      const param = inside(String(error.params.missingProperty));
      return new ServiceError('parameter_missing', `"${param}" is required.`, { param });
    }
    case 'enum': {
      const allowed: unknown[] = error.params.allowedValues;
      return new ServiceError('parameter_invalid', `"${at}" must be one of ${allowed.join(', ')}.`, { param: at });
    }
    default:
      return new ServiceError('parameter_invalid', at ? `"${at}" ${error?.message}.` : `The body ${error?.message}.`, {
        param: at || undefined,
      });
  }
}
