/** The endpoints that the organisation's keys can call, with what a form for their requests needs to know. */
import { Type } from 'typebox';
import { closed } from '../../contracts/vocabulary/schemas.ts';
import { describeEndpoints } from '../endpoint-description.ts';
import { schemas } from '../openapi/schemas.ts';
import { defineOperation } from './operation.ts';

const { object: _, ...described } = schemas.Endpoint.properties;

const listEndpoints = defineOperation({
  id: 'listOrganizationEndpoints',
  method: 'get',
  path: '/mgmt/v1/endpoints',
  tag: 'Organisation',
  summary: 'List the endpoints of a mode with the schemas of their parameters',
  permission: 'endpoints:read',
  query: Type.Object(
    { livemode: Type.Boolean({ default: false, description: 'true: availability and limits of live keys.' }) },
    { additionalProperties: false },
  ),
  response: closed({
    object: Type.Literal('list'),
    data: Type.Array(
      closed({
        object: Type.Literal('organization_endpoint'),
        ...described,
        description: Type.String({ description: 'Markdown.' }),
        files: closed({
          field: Type.String({ description: 'Name of the multipart part.' }),
          minimum: Type.Integer({ minimum: 0 }),
          maximum: Type.Integer({ minimum: 0 }),
          media_types: Type.Array(Type.String()),
          direct_media_types: Type.Array(Type.String(), {
            description: 'What may be sent directly as multipart; other files are sent as uploads first.',
          }),
          maximum_bytes: Type.Integer({ minimum: 0, description: 'Largest file sent directly as multipart.' }),
        }),
        parameters: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of the parameters.' }),
        scenarios: Type.Record(Type.String(), Type.String(), {
          description: 'Effects of the test scenarios, by their names.',
        }),
      }),
    ),
    has_more: Type.Literal(false),
  }),
  async handle({ em, services: { endpoints }, query: { livemode } }) {
    const descriptions = await describeEndpoints(em, endpoints, livemode);
    return {
      object: 'list',
      data: descriptions.map((description, index) => {
        const { files, parameters, scenarios, description: text } = endpoints[index] as (typeof endpoints)[number];
        return {
          ...description,
          object: 'organization_endpoint',
          description: text,
          files: {
            field: files.field,
            minimum: files.minimum,
            maximum: files.maximum,
            media_types: files.mediaTypes,
            direct_media_types: files.directMediaTypes,
            maximum_bytes: files.maximumBytes,
          },
          parameters,
          scenarios,
        };
      }),
      has_more: false,
    };
  },
});

export const endpointOperations = [listEndpoints];
