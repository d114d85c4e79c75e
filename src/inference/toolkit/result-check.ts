/** Checks every result against its endpoint's schema before it is stored. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { EndpointContract } from '../../contracts/endpoint-contract.ts';

/** The problems of a result, by field; null when it is valid. */
export type ResultCheck = (endpoint: string, result: unknown) => string | null;

export function createResultCheck(endpoints: readonly EndpointContract[]): ResultCheck {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  addFormats.default(ajv);
  const schemas = new Map(endpoints.map(({ slug, result }) => [slug, result]));
  return (endpoint, result) => {
    const schema = schemas.get(endpoint);
    if (!schema) return `no endpoint has the slug ${endpoint}`;
    // Compiled on first use and cached by Ajv: compiling all of them would delay the start by seconds.
    const validate = ajv.compile(schema);
    if (validate(result)) return null;
    return (validate.errors ?? []).map(describe).join('; ');
  };
}

function describe({ instancePath, message }: ErrorObject): string {
  return `result${instancePath.replaceAll('/', '.')} ${message}`;
}
