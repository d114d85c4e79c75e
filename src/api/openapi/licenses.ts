/** SDK licences, their public keys, and the identity of a key. */
import { SDKS } from '../../domain/scopes.ts';
import { sdkLicenseBody } from '../routes/sdk-licenses.ts';
import { errorAnswersOf, idempotencyKeyParameter } from './operations.ts';
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
      summary: 'Whose key this is, and what it may do',
      tags: ['API keys'],
      responses: { 200: answer('KeyIdentity', 'The key that asks'), ...errorAnswersOf('key', ...ALWAYS) },
    },
  },
  '/v1/sdk-licenses/{sdk}': {
    get: {
      operationId: 'getSdkLicense',
      summary: 'Read the licence of an SDK',
      tags: ['SDK licences'],
      parameters: [sdkParameter],
      responses: { 200: answer('SdkLicenseView', 'As it is now'), ...errorAnswersOf('license', ...ALWAYS, 403) },
    },
    post: {
      operationId: 'issueSdkLicense',
      summary: 'Issue the licence of an SDK, or get the one that is',
      tags: ['SDK licences'],
      parameters: [sdkParameter, idempotencyKeyParameter],
      requestBody: { required: false, content: { 'application/json': { schema: sdkLicenseBody } } },
      responses: {
        200: answer('SdkLicenseView', 'With the licence'),
        ...errorAnswersOf('license', ...ALWAYS, 403, 409, 413, 415),
      },
    },
  },
  '/.well-known/jwks.json': {
    get: {
      operationId: 'getLicenseKeys',
      summary: 'Public keys of SDK licences',
      tags: ['SDK licences'],
      security: [],
      responses: {
        200: { description: 'A JSON Web Key Set', content: { 'application/json': { schema: publicKeySet } } },
        ...errorAnswersOf('link', 400, 500),
      },
    },
  },
};
