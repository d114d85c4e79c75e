/** SDK licences of the organisation. */
import { Type } from 'typebox';
import { closed } from '../../contracts/vocabulary/schemas.ts';
import { readSdkEntitlements } from '../../db/sdk-licenses/sdk-licenses.ts';
import { renderSdkEntitlement } from '../../domain/sdk-licenses.ts';
import { defineOperation } from './operation.ts';

const listSdkLicenses = defineOperation({
  id: 'listSdkLicenses',
  method: 'get',
  path: '/mgmt/v1/sdk-licenses',
  tag: 'SDK licences',
  summary: 'Every SDK, with its licence and what is left of the quota',
  permission: 'sdk_licenses:read',
  answer: closed({ data: Type.Array({ $ref: '#/components/schemas/SdkLicenseView' }) }),
  handle: async ({ em, member, now }) => {
    const entitlements = await readSdkEntitlements(em, member.organizationId, now);
    return { data: entitlements.map((entitlement) => renderSdkEntitlement(entitlement, now)) };
  },
});

export const sdkLicenseOperations = [listSdkLicenses];
