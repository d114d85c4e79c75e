/** The groups of the reference, in the order in which they are read. */

const GROUPS = {
  understand: 'What a picture or video shows: the vehicle, its pose, its identity, and what is written on it.',
  damage: 'Damage, its severity, tires, and whole inspections.',
  parts: 'The parts of a vehicle: which they are, and where.',
  money: 'Repair costs and the value of a vehicle.',
  render: 'Finished pictures, turntables, videos and viewers.',
  Jobs: 'Every call of an endpoint makes a job. See [idempotency](/docs/idempotency) and [test mode](/docs/test-mode).',
  Events: 'What was or would have been delivered to [webhooks](/docs/webhooks).',
  Uploads: 'Files that several jobs use, or that are too large to go along with a request. See [files](/docs/uploads).',
  Artefacts: 'Files that jobs make, by the links in their results. See [files](/docs/uploads).',
  Availability: 'What can be called now, for how much.',
  'API keys': 'See [API keys](/docs/api-keys).',
  'SDK licences': 'Proofs for SDKs that run elsewhere. See [SDK licences](/docs/sdk-licences).',
  Organisation: 'Everything under `/mgmt/v1` takes tokens of people. See [management](/docs/management).',
  'Jobs of the organisation': 'Jobs of every mode and key, to read.',
  Webhooks: 'Endpoints that are told of events, their secrets and their deliveries. See [webhooks](/docs/webhooks).',
  Credits: 'Balances, the ledger and top-ups. See [credits](/docs/credits).',
  Usage: 'Jobs and charged credits by day, endpoint, key and mode.',
  Billing: 'Prices and statements. See [billing](/docs/billing).',
  'Audit log': 'Who changed what.',
} as const;

/** `tags` of the document. */
export const tags = Object.entries(GROUPS).map(([name, description]) => ({ name, description }));
