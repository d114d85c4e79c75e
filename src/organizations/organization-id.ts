/** Ids of organisations, as the identity provider gives them. */
export const ORGANIZATION_ID = /^org_[0-9A-Za-z]{1,64}$/;
