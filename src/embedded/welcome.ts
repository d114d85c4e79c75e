/** The text that `npm start` prints once everything runs: addresses, keys, and a first call to paste. */
import { globSync } from 'node:fs';
import { relative } from 'node:path';
import { type ServiceDescription, TOKEN_LIFE_SECONDS } from './service-description.ts';
import { PROJECT_DIRECTORY } from './service-processes.ts';

export function describeService({
  apiUrl,
  temporalWebUrl,
  databaseUrl,
  keys,
  identity,
  ...rest
}: ServiceDescription): string {
  const { temporalAddress, temporalNamespace } = rest;
  const metrics = Object.entries(rest.metrics).map(([name, urls]) => `\n  ${name.padEnd(20)}  ${urls.join('  ')}`);
  const web = temporalWebUrl ? `${temporalWebUrl}/namespaces/${temporalNamespace}/workflows` : 'of your own server';
  return `
The Vehicle Inference Service runs.

  API           ${apiUrl}
  Console       ${rest.consoleUrl}  password ${identity.password}
  Documentation ${apiUrl}/docs
  Temporal Web  ${web}
  Temporal      ${temporalAddress}, namespace ${temporalNamespace}
  PostgreSQL    ${databaseUrl}

  Live key      ${keys.live}
  Staging key   ${keys.staging}
  Test key      ${keys.test}
${metrics.length > 0 ? `\nMetrics:\n${metrics.join('')}\n` : ''}
Read a dashboard:

  curl -sS '${apiUrl}/v1/dashboard/read?wait=true' \\
    -H 'Authorization: Bearer ${keys.live}' \\
    -F 'image=@${examplePicture()}'

Value an invented vehicle by the invented price book of this demonstration:

  curl -sS '${apiUrl}/v1/pricing/vehicle?wait=true' -H 'Authorization: Bearer ${keys.live}' \\
    -H 'Content-Type: application/json' -d '{"price_book": "demonstration-invented",
      "vehicle": {"make": "Talvera", "model": "Lumo", "year": 2019, "mileage_km": 80000}}'

Estimate the repair of a dented door, by invented prices too:

  curl -sS '${apiUrl}/v1/pricing/repair?wait=true' -H 'Authorization: Bearer ${keys.live}' \\
    -H 'Content-Type: application/json' -d '{"price_book": "demonstration-repairs-invented",
      "damages": [{"type": "dent", "part": "front_door", "side": "left", "severity": "severe"}]}'

Get a token for the management API, as owner, admin, member or billing_manager, valid for ${TOKEN_LIFE_SECONDS / 60} minutes, and create a key with it:

  TOKEN=$(curl -sS '${identity.tokenUrl}' -d grant_type=client_credentials \\
    -d client_id=owner -d client_secret=${identity.clientSecret} | grep -o 'eyJ[^"]*')
  curl -sS '${apiUrl}/mgmt/v1/api-keys' -H "Authorization: Bearer $TOKEN" \\
    -H 'Content-Type: application/json' -d '{"name": "mine", "livemode": false, "scopes": ["*"]}'

Ctrl-C stops everything and keeps its data for the next start.
`;
}

function examplePicture(): string {
  const [picture] = globSync('training/examples/*.jpg', { cwd: PROJECT_DIRECTORY }).sort();
  return picture ? relative(process.cwd(), `${PROJECT_DIRECTORY}${picture}`) : 'dashboard.jpg';
}
