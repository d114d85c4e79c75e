/** The organisation itself. Its identity provider manages the members. */
import { Type } from 'typebox';
import { closed } from '../../contracts/vocabulary/schemas.ts';
import { Organization } from '../../organizations/entities.ts';
import { ensureOrganization } from '../../organizations/organizations-store.ts';
import { epochSeconds as toEpochSeconds } from '../../platform/epoch-seconds.ts';
import { epochSeconds, name } from './fields.ts';
import { defineOperation } from './operation.ts';

const TAG = 'Organisation';
const PATH = '/mgmt/v1/organization';

const response = closed({
  id: Type.String({ description: 'The `org_id` of the token.' }),
  object: Type.Literal('organization'),
  name: Type.String({ description: 'The id, until a name is set.' }),
  created: epochSeconds,
});

const getOrganization = defineOperation({
  id: 'getOrganization',
  method: 'get',
  path: PATH,
  tag: TAG,
  summary: 'Read the organisation of the token',
  permission: 'organization:read',
  response,
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
  summary: 'Rename the organisation',
  permission: 'organization:write',
  response,
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
