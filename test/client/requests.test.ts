/** What a request of the client never does, with a `fetch` that records it. */
import { describe, expect, it } from 'vitest';
import {
  type ClientOptions,
  ConnectionError,
  type Job,
  ManagementClient,
  VehicleInferenceClient,
} from '../../src/client/index.ts';

const BASE = 'https://api.example.com';
const JOB = { id: 'job_1', object: 'job', status: 'succeeded' } as Job;

function clientWith(fetch: ClientOptions['fetch'], options: Partial<ClientOptions> = {}) {
  return new VehicleInferenceClient({ apiKey: 'key', baseUrl: BASE, fetch, sleep: async () => {}, ...options });
}

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    'a redirect by %i takes neither the key nor the picture to another address, and is not tried again',
    async (status) => {
      const called: string[] = [];
      const client = clientWith(async (url, init) => {
        called.push(`${init?.method} ${url as string} ${init?.redirect}`);
        return new Response(null, { status, headers: { Location: 'https://elsewhere.example/' } });
      });
      const submitted = client.submit('plate.read', { image: new Uint8Array([1]) });
      await expect(submitted).rejects.toBeInstanceOf(ConnectionError);
      await expect(submitted).rejects.toThrow('api.example.com redirects to https://elsewhere.example/');
      expect(called).toEqual([`POST ${BASE}/v1/plate/read manual`]);
    },
  );

  it('a redirect that a browser hides is refused too', async () => {
    const hidden = Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });
    await expect(clientWith(async () => hidden).getJob('job_1')).rejects.toThrow('redirects to another address');
  });

  it('an upload in a browser, which hides that it is incomplete, asks how much arrived, and follows no redirect', async () => {
    const size = 8 * 1024 * 1024 + 1;
    const upload = { id: 'upl_1', upload_url: `${BASE}/v1/uploads/upl_1/content`, upload_headers: {} };
    const hidden = () => Object.defineProperty(Response.error(), 'type', { value: 'opaqueredirect' });
    const uploadTo = (states: object[]) =>
      clientWith(async (_url, init) => {
        expect(init?.redirect).toBe('manual');
        return init?.method === 'PUT' ? hidden() : Response.json(states.shift());
      }).upload(new Blob([new Uint8Array(size)], { type: 'video/mp4' }), { filename: 'a.mp4' });
    const begun = { ...upload, received_bytes: 0 };
    const arrived = [
      begun,
      { ...upload, received_bytes: size - 1 },
      { id: 'upl_1', received_bytes: size, status: 'ready' },
    ];
    expect(await uploadTo(arrived)).toMatchObject({ status: 'ready' });
    await expect(uploadTo([begun, begun])).rejects.toThrow('the address of the upload redirects');
  });

  it('a signed link of an artefact may lead on to the bucket, without the key', async () => {
    const sent: RequestInit[] = [];
    const client = clientWith(async (_url, init) => {
      sent.push(init ?? {});
      return new Response('pixels');
    });
    await client.getArtefact(`${BASE}/v1/artefacts/art_1.png?signature=1`);
    expect(sent).toMatchObject([{ redirect: 'follow' }]);
    expect(sent[0]?.headers).not.toHaveProperty('Authorization');
  });
});

describe('an id', () => {
  it.each(['', '.', '..'])('the id "%s" is refused before a request is sent', async (id) => {
    const called: unknown[] = [];
    const record: typeof fetch = async (url) => {
      called.push(url);
      return Response.json(JOB);
    };
    const client = clientWith(record);
    const management = new ManagementClient({ token: 'token', baseUrl: BASE, fetch: record });
    for (const call of [client.getJob(id), client.cancelJob(id), client.getUpload(id), management.getApiKey(id)]) {
      await expect(call).rejects.toBeInstanceOf(TypeError);
    }
    expect(called).toEqual([]);
  });
});

describe('options', () => {
  it('fetch is called without a receiver, as browsers require of their own', async () => {
    const receivers: unknown[] = [];
    const client = clientWith(async function (this: unknown) {
      receivers.push(this);
      return Response.json(JOB);
    });
    await client.getJob('job_1');
    expect(receivers).toEqual([undefined]);
  });

  it('an option that is undefined is as good as none', async () => {
    const none = { attempts: undefined, attemptTimeoutMs: undefined, sleep: undefined };
    let sent = 0;
    const client = clientWith(async () => {
      sent += 1;
      return Response.json(JOB);
    }, none);
    expect(await client.getJob('job_1')).toEqual(JOB);
    const failing = clientWith(async () => Promise.reject(new TypeError('no network')), {
      attempts: undefined,
    });
    await expect(failing.getJob('job_1')).rejects.toBeInstanceOf(ConnectionError);
    expect(sent).toBe(1);
    expect(() => clientWith(undefined)).not.toThrow();
  });

  it.each([0, -1, 1.5, Number.NaN])('%d attempts are refused', (attempts) => {
    expect(() => clientWith(undefined, { attempts })).toThrow('attempts must be a whole number above 0');
  });
});

it('a job is followed where streams cannot be iterated, as in Safari', async () => {
  const client = clientWith(async () => {
    const response = new Response(`data: ${JSON.stringify(JOB)}\n\n`);
    Object.defineProperty(response.body, Symbol.asyncIterator, { value: undefined });
    return response;
  });
  const followed: Job[] = [];
  for await (const job of client.followJob('job_1')) followed.push(job);
  expect(followed).toEqual([JOB]);
});
