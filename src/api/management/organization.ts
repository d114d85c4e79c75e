/** The organisation itself. Who belongs to it is its authentication service's to say. */
import { Type } from 'typebox';
import { closed } from '../../contracts/vocabulary/schemas.ts';
import { Organization } from '../../db/entities.ts';
import { ensureOrganization } from '../../db/organizations/organizations.ts';
import { epochSeconds as toEpochSeconds } from '../../domain/job-resource.ts';
import { epochSeconds, name } from './fields.ts';
import { defineOperation } from './operation.ts';

const TAG = 'Organisation';
const PATH = '/mgmt/v1/organization';

const answer = closed({
  id: Type.String({ description: 'As in the token.' }),
  object: Type.Literal('organization'),
  name: Type.String({ description: 'The id, until it is given a name.' }),
  created: epochSeconds,
});

const getOrganization = defineOperation({
  id: 'getOrganization',
  method: 'get',
  path: PATH,
  tag: TAG,
  summary: 'Read the organisation of the token',
  permission: 'organization:read',
  answer,
  async handle({ em, member: { organizationId } }) {
    await ensureOrganization(em, organizationId);
    return render(await em.findOneOrFail(Organization, { id: organizationId }));
  },
});

const updateOrganization = defineOperation({
  id: 'updateOrganization',
  method: 'patch',
  path: PATH,
  tag: TAG,
  summary: 'Give the organisation a name',
  permission: 'organization:write',
  answer,
  body: closed({ name }),
  async handle({ em, member: { organizationId }, body }) {
    const organization = await em.findOneOrFail(Organization, { id: organizationId });
    organization.name = body.name;
    return render(organization);
  },
});

export const organizationOperations = [getOrganization, updateOrganization];

function render({ id, name, createdAt }: Organization) {
  return { id, object: 'organization', name, created: toEpochSeconds(createdAt) };
}
