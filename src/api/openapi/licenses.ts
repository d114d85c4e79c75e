/** SDK licences, their public keys, and the identity of a key. */
import { SDKS } from '../../organizations/scopes.ts';
import { sdkLicenseBody } from '../routes/sdk-licenses.ts';
import { errorResponsesOf, idempotencyKeyParameter } from './operations.ts';
import type { schemas } from './schemas.ts';

const ALWAYS = [400, 401, 429, 500, 503];

const answer = (name: keyof typeof schemas, description: string) => ({
  description,
  content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
});

const sdkParameter = { name: 'sdk', in: 'path', required: true, schema: { type: 'string', enum: [...SDKS] } };

const publicKeySet = {
  type: 'object',
  required: ['keys'],
  properties: { keys: { type: 'array', items: { type: 'object' } } },
};

export const licensePaths = {
  '/v1/api-keys/self': {
    get: {
      operationId: 'getKeyIdentity',
      summary: 'Read the identity and permissions of the calling key',
      tags: ['API keys'],
      responses: { 200: answer('KeyIdentity', 'The calling key'), ...errorResponsesOf('key', ...ALWAYS) },
    },
  },
  '/v1/sdk-licenses/{sdk}': {
    get: {
      operationId: 'getSdkLicense',
      summary: 'Read the licence of an SDK',
      tags: ['SDK licences'],
      parameters: [sdkParameter],
      responses: {
        200: answer('SdkLicenseView', 'The current licence view'),
        ...errorResponsesOf('license', ...ALWAYS, 403),
      },
    },
    post: {
      operationId: 'issueSdkLicense',
      summary: 'Issue or return the licence of an SDK',
      tags: ['SDK licences'],
      parameters: [sdkParameter, idempotencyKeyParameter],
      requestBody: { required: false, content: { 'application/json': { schema: sdkLicenseBody } } },
      responses: {
        200: answer('SdkLicenseView', 'The licence view with the licence'),
        ...errorResponsesOf('license', ...ALWAYS, 403, 409, 413, 415),
      },
    },
  },
  '/.well-known/jwks.json': {
    get: {
      operationId: 'getLicenseKeys',
      summary: 'Get the public keys that verify SDK licences',
      tags: ['SDK licences'],
      security: [],
      responses: {
        200: { description: 'A JSON Web Key Set', content: { 'application/json': { schema: publicKeySet } } },
        ...errorResponsesOf('link', 400, 500),
      },
    },
  },
};
