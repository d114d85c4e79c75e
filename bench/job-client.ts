/** The customer: posts jobs over HTTP with keep-alive, each with its own Idempotency-Key. */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import type { EndpointContract } from '../src/contracts/endpoint-contract.ts';
import { endpointPath } from '../src/endpoints/shared/endpoint-path.ts';
import type { Organization } from './organizations.ts';

export interface JobAnswer {
  id: string;
  status: string;
}

export interface JobClient {
  /** Posts one picture. @throws unless the response has the expected status of a waited or queued job. */
  post(options: { wait: boolean; parameters?: Readonly<Record<string, string>> }): Promise<JobAnswer>;
  close(): Promise<void>;
}

/** One white pixel: this measures the service, not the network. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const BOUNDARY = 'benchmark-boundary';

interface JobClientOptions {
  apiUrl: string;
  endpoint: EndpointContract;
  organizations: readonly Organization[];
  connections: number;
}

export function createJobClient({ apiUrl, endpoint, organizations, connections }: JobClientOptions): JobClient {
  const pool = new Pool(apiUrl, { connections, pipelining: 1 });
  const authorizations = organizations.map(({ secret }) => `Bearer ${secret}`);
  const path = endpointPath(endpoint.slug);
  const fileField = endpoint.files.field;
  let posted = 0;
  return {
    async post({ wait, parameters = {} }) {
      const expectedStatus = wait ? 200 : 202;
      const answer = await pool.request({
        method: 'POST',
        path: wait ? `${path}?wait=true` : path,
        headers: {
          // In turn: an even load stays below every organisation's rate limit.
          authorization: authorizations[posted++ % authorizations.length] as string,
          'idempotency-key': randomUUID(),
          'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        },
        body: multipartBody(fileField, parameters),
      });
      const text = await answer.body.text();
      if (answer.statusCode !== expectedStatus) {
        throw new Error(`POST ${path} answered ${answer.statusCode}, not ${expectedStatus}: ${text}`);
      }
      return JSON.parse(text) as JobAnswer;
    },
    close: () => pool.close(),
  };
}

function multipartBody(fileField: string, parameters: Readonly<Record<string, string>>): Buffer {
  const disposition = `--${BOUNDARY}\r\nContent-Disposition: form-data; name=`;
  const fields = Object.entries(parameters).map(([name, value]) => `${disposition}"${name}"\r\n\r\n${value}\r\n`);
  const head = `${disposition}"${fileField}"; filename="picture.png"\r\nContent-Type: image/png\r\n\r\n`;
  return Buffer.concat([Buffer.from(fields.join('') + head), PICTURE, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}
