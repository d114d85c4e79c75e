/** What `npm start` prints of the management API, pasted into a shell: a token, a key, a job with it, and the end of the key. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VehicleInferenceClient } from '../../src/client/index.ts';
import { ROLES } from '../../src/organizations/roles.ts';
import { PROJECT_DIRECTORY, useProcesses } from '../support/processes.ts';
import { type RunningService, startWholeService } from './service-client.ts';

interface KeyAnswer {
  id: string;
  secret: string;
  scopes: string[];
}

const processes = useProcesses();
let service: RunningService;
/** As a reader copies them: from the words that announce them to the last line. */
let printed: string;

beforeAll(async () => {
  service = await startWholeService(processes, mkdtempSync(join(tmpdir(), 'management-')));
  const { lines } = service.process;
  const from = lines.findIndex((line) => line.startsWith('Get a token for the management API'));
  printed = lines
    .slice(
      from + 1,
      lines.findIndex((line) => line.startsWith('Ctrl-C stops everything')),
    )
    .join('\n');
});
afterAll(() => service.process.stop());

const paste = (commands: string) => execFileSync('bash', ['-euc', commands], { encoding: 'utf8' });

function manage(token: string, path: string, body?: object): Promise<Response> {
  return fetch(`${service.description.apiUrl}/mgmt/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}

function tokenOf(role: string): string {
  const [command = ''] = printed
    .split('curl -sS')
    .slice(0, 2)
    .join('curl -sS')
    .split(/\n {2}$/);
  return paste(`${command.replace('client_id=owner', `client_id=${role}`)}\necho "$TOKEN"`).trim();
}

describe('the printed commands', () => {
  let key: KeyAnswer;

  beforeAll(() => {
    key = JSON.parse(paste(printed)) as KeyAnswer;
  });

  it('the printed commands make a key, which starts jobs until it is revoked', async () => {
    expect(key).toMatchObject({ object: 'api_key', livemode: false, scopes: ['*'] });
    const image = new Uint8Array(readFileSync(join(PROJECT_DIRECTORY, 'training/examples/no-dashboard.jpg')));
    const client = new VehicleInferenceClient({ apiKey: key.secret, baseUrl: service.description.apiUrl });
    expect(await client.submit('dashboard.read', { image })).toMatchObject({ object: 'job', livemode: false });

    const revoked = await manage(tokenOf('admin'), `/api-keys/${key.id}/revoke`, {});
    expect(revoked.status).toBe(200);
    await expect(client.submit('dashboard.read', { image })).rejects.toMatchObject({ code: 'api_key_revoked' });
  });

  it.each(ROLES)('the printed commands give a token of the role %s, good for an hour', async (role) => {
    const token = tokenOf(role);
    const { role: claimed, org_id, exp = 0, iat = 0 } = decodeJwt(token);
    expect({ claimed, org_id, seconds: exp - iat }).toEqual({
      claimed: role,
      org_id: service.description.organizationId,
      seconds: 3_600,
    });
    const mayReadOrganization = role !== 'billing_manager';
    expect((await manage(token, '/organization')).status).toBe(mayReadOrganization ? 200 : 403);
  });
});

it('nobody gets a token without the secret of the data folder', async () => {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'owner', client_secret: 'guessed' });
  expect((await fetch(service.description.identity.tokenUrl, { method: 'POST', body })).status).toBe(401);
});
