/** What `npm start` prints once everything runs: where it is, how to get in, and a first call to paste. */
import { globSync } from 'node:fs';
import { relative } from 'node:path';
import type { ServiceDescription } from './service-parts.ts';
import { PROJECT_DIRECTORY } from './service-processes.ts';

export function describeService({ apiUrl, temporalWebUrl, databaseUrl, keys, ...rest }: ServiceDescription): string {
  const { temporalAddress, temporalNamespace } = rest;
  const web = temporalWebUrl ? `${temporalWebUrl}/namespaces/${temporalNamespace}/workflows` : 'of your own server';
  return `
The Vehicle Inference Service runs.

  API           ${apiUrl}
  Temporal Web  ${web}
  Temporal      ${temporalAddress}, namespace ${temporalNamespace}
  PostgreSQL    ${databaseUrl}

  Live key      ${keys.live}
  Staging key   ${keys.staging}
  Test key      ${keys.test}

Read a dashboard:

  curl -sS '${apiUrl}/v1/dashboard/read?wait=true' \\
    -H 'Authorization: Bearer ${keys.live}' \\
    -F 'image=@${examplePicture()}'

Ctrl-C stops everything; the next start finds it as it was.
`;
}

function examplePicture(): string {
  const [picture] = globSync('training/examples/*.jpg', { cwd: PROJECT_DIRECTORY }).sort();
  return picture ? relative(process.cwd(), `${PROJECT_DIRECTORY}${picture}`) : 'dashboard.jpg';
}
