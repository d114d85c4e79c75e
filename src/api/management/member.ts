/** The member behind the token, and what the member's role may do. */
import { Type } from 'typebox';
import { closed } from '../../contracts/vocabulary/schemas.ts';
import { mayDo, PERMISSIONS, type Permission, ROLES } from '../../organizations/roles.ts';
import { defineOperation } from './operation.ts';

const permissions = Object.keys(PERMISSIONS) as Permission[];

const getMember = defineOperation({
  id: 'getMember',
  method: 'get',
  path: '/mgmt/v1/member',
  tag: 'Organisation',
  summary: 'Read the member of the token, with the permissions of the role',
  permission: 'member:read',
  response: closed({
    user_id: Type.String({ description: 'The `sub` of the token.' }),
    object: Type.Literal('member'),
    organization_id: Type.String({ description: 'The `org_id` of the token.' }),
    role: Type.Enum([...ROLES]),
    permissions: Type.Array(Type.String(), { description: 'What the role may do, such as `jobs:read`.' }),
  }),
  handle: async ({ member: { userId, organizationId, role } }) => ({
    user_id: userId,
    object: 'member',
    organization_id: organizationId,
    role,
    permissions: permissions.filter((permission) => mayDo(role, permission)),
  }),
});

export const memberOperations = [getMember];
