/** SDK licences of the organisation. */
import { Type } from 'typebox';
import { closed } from '../../contracts/vocabulary/schemas.ts';
import { renderSdkEntitlement } from '../../sdk-licenses/sdk-licenses.ts';
import { readSdkEntitlements } from '../../sdk-licenses/sdk-licenses-store.ts';
import { defineOperation } from './operation.ts';

const listSdkLicenses = defineOperation({
  id: 'listSdkLicenses',
  method: 'get',
  path: '/mgmt/v1/sdk-licenses',
  tag: 'SDK licences',
  summary: 'List the SDKs with their licences and the remaining quota',
  permission: 'sdk_licenses:read',
  response: closed({ data: Type.Array({ $ref: '#/components/schemas/SdkLicenseView' }) }),
  handle: async ({ em, member, now }) => {
    const entitlements = await readSdkEntitlements(em, member.organizationId, now);
    return { data: entitlements.map((entitlement) => renderSdkEntitlement(entitlement, now)) };
  },
});

export const sdkLicenseOperations = [listSdkLicenses];
