/** Holds every result to its endpoint's schema before anything stores it. */
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { EndpointContract } from '../contracts/endpoint-contract.ts';

/** Says what is wrong with a result, field by field; null when it is valid. */
export type ResultCheck = (endpoint: string, result: unknown) => string | null;

export function createResultCheck(endpoints: readonly EndpointContract[]): ResultCheck {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  addFormats.default(ajv);
  const validators = new Map(endpoints.map(({ slug, result }) => [slug, ajv.compile(result)]));
  return (endpoint, result) => {
    const validate = validators.get(endpoint);
    if (!validate) return `no endpoint has the slug ${endpoint}`;
    if (validate(result)) return null;
    return (validate.errors ?? []).map(describe).join('; ');
  };
}

function describe({ instancePath, message }: ErrorObject): string {
  return `result${instancePath.replaceAll('/', '.')} ${message}`;
}
