/** What is wrong with a `model.json`, field by field, for whoever wrote it. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';

export function createSchemaCheck<Schema extends TSchema>(
  schema: Schema,
): { isValid(value: unknown): value is Static<Schema>; problems(): string } {
  const ajv = new Ajv2020({ strict: true, allErrors: true, discriminator: true, verbose: true });
  addFormats.default(ajv, ['date']);
  const validate = ajv.compile<Static<Schema>>(schema);
  return {
    isValid: (value): value is Static<Schema> => validate(value),
    problems: () => (validate.errors ?? []).map(describe).join('; '),
  };
}

function describe({ instancePath, keyword, message, params, parentSchema }: ErrorObject): string {
  const field = instancePath.slice(1).replaceAll('/', '.') || 'model.json';
  switch (keyword) {
    case 'additionalProperties':
      return `${field} must not have the property '${params.additionalProperty as string}'`;
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

function tagsOf(schema: unknown): string[] {
  const { oneOf = [], discriminator } = schema as {
    oneOf?: { properties: Record<string, { const?: string }> }[];
    discriminator?: { propertyName: string };
  };
  return oneOf.flatMap(({ properties }) => properties[discriminator?.propertyName ?? '']?.const ?? []);
}
