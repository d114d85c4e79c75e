/** Validates requests by an endpoint's schema, without a server. */
import { jsonRequestSchema } from '../../src/api/requests/inference-request.ts';
import { compileValidator } from '../../src/api/requests/validator.ts';
import type { EndpointContract } from '../../src/contracts/endpoint-contract.ts';
import { ServiceError } from '../../src/platform/service-error.ts';

export const UPLOAD_ID = 'upl_1111111111111111111111';

/** The code and parameter of the refusal of a JSON body; null if it is accepted. */
export function jsonRefusal(endpoint: EndpointContract, body: Record<string, unknown>) {
  return refusalOf(() => compileValidator(jsonRequestSchema(endpoint), 'json')(structuredClone(body)));
}

/** The same with as few files as the endpoint accepts. */
export function parameterRefusal(endpoint: EndpointContract, parameters: Record<string, unknown>) {
  const { minimum, maximum } = endpoint.files;
  const inputs = maximum === 1 ? { input_ref: UPLOAD_ID } : { input_refs: Array(minimum).fill(UPLOAD_ID) };
  return jsonRefusal(endpoint, { ...inputs, ...parameters });
}

/** The refusal of the text fields of a multipart body. */
export function multipartRefusal(endpoint: EndpointContract, fields: Record<string, string | string[]>) {
  return refusalOf(() => compileValidator(endpoint.parameters, 'multipart')({ ...fields }));
}

function refusalOf(check: () => void): { code: string; param: string | undefined } | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { code: error.code, param: error.param };
  }
}
