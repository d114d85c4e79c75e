/** Search attributes of workflows, for Temporal Web. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';

export const SEARCH_ATTRIBUTES = {
  jobEndpoint: defineSearchAttributeKey('JobEndpoint', SearchAttributeType.KEYWORD),
  organizationId: defineSearchAttributeKey('OrganizationId', SearchAttributeType.KEYWORD),
  livemode: defineSearchAttributeKey('Livemode', SearchAttributeType.BOOL),
  jobStatus: defineSearchAttributeKey('JobStatus', SearchAttributeType.KEYWORD),
  shadowOutcome: defineSearchAttributeKey('ShadowOutcome', SearchAttributeType.KEYWORD),
  shadowDiffers: defineSearchAttributeKey('ShadowDiffers', SearchAttributeType.KEYWORD_LIST),
};
