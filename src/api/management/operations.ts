/** Every operation of the management API, by resource. */
import { apiKeyOperations } from './api-keys.ts';
import { auditLogOperations } from './audit-log.ts';
import { billingOperations } from './billing.ts';
import { creditOperations } from './credits.ts';
import { endpointOperations } from './endpoints.ts';
import { jobEventOperations, jobOperations } from './jobs.ts';
import { memberOperations } from './member.ts';
import type { Operation } from './operation.ts';
import { organizationOperations } from './organization.ts';
import { sdkLicenseOperations } from './sdk-licenses.ts';
import { usageOperations } from './usage.ts';
import { webhookDeliveryOperations } from './webhook-deliveries.ts';
import { webhookEndpointOperations } from './webhook-endpoints.ts';

const ofResources: readonly Operation[] = [
  ...apiKeyOperations,
  ...sdkLicenseOperations,
  ...organizationOperations,
  ...memberOperations,
  ...endpointOperations,
  ...jobOperations,
  ...webhookEndpointOperations,
  ...webhookDeliveryOperations,
  ...jobEventOperations,
  ...creditOperations,
  ...usageOperations,
  ...billingOperations,
];

export const operations: readonly Operation[] = [
  ...ofResources,
  ...auditLogOperations(ofResources.filter(({ method }) => method !== 'get').map(({ id }) => id)),
];
