/** The groups of the reference, in reading order. */

const GROUPS = {
  understand: 'Understand an image or video: the vehicle, its pose, its identity and the text on it.',
  damage: 'Damage, its severity, tires, and whole inspections.',
  parts: 'Vehicle parts: names, positions and cut-outs.',
  money: 'Repair costs and the value of a vehicle.',
  render: 'Finished images, 360° spins, videos and viewers.',
  Jobs: 'Every inference call creates a job. A key reads the jobs of the endpoint families that it may run. See [idempotency](/docs/idempotency) and [test mode](/docs/test-mode).',
  Events: 'Events as delivered to [webhooks](/docs/webhooks), kept for 30 days.',
  Uploads: 'Files used by several jobs, or too large to send with a request. See [files](/docs/uploads).',
  Artefacts: 'Files produced by jobs, served through signed links. See [files](/docs/uploads).',
  Availability: 'Endpoints that can be called now, with prices and limits.',
  'API keys': 'See [API keys](/docs/api-keys).',
  'SDK licences': 'Signed proofs for SDKs that run on customer devices. See [SDK licences](/docs/sdk-licenses).',
  Organisation: 'Operations under `/mgmt/v1` take member tokens, not API keys. See [management](/docs/management).',
  'Jobs of the organisation': 'Read-only access to jobs of every mode and key.',
  Webhooks: 'Webhook endpoints, their secrets and deliveries. See [webhooks](/docs/webhooks).',
  Credits: 'Balances, the ledger and top-ups. See [credits](/docs/credits).',
  Usage: 'Jobs and charged credits by day, endpoint, key and mode.',
  Billing: 'Prices and statements. See [billing](/docs/billing).',
  'Audit log': 'Changes made by members.',
} as const;

/** `tags` of the document. */
export const tags = Object.entries(GROUPS).map(([name, description]) => ({ name, description }));
