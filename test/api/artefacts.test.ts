/** Files that jobs make, behind links that carry their own permission. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/domain/ids.ts';
import { createSignedUrls } from '../../src/domain/signed-urls.ts';
import { PUBLIC_BASE_URL, startTestApi, type TestApi } from '../support/api.ts';
import { png } from '../support/pictures.ts';
import { expectRefusal } from '../support/requests.ts';

const NOON = new Date('2026-12-01T12:00:00.000Z');

let api: TestApi;
let now = NOON;
let name: string;

beforeAll(async () => {
  api = await startTestApi({ clock: () => now });
});
afterAll(() => api.close());
beforeEach(async () => {
  now = NOON;
  name = `${newId('artefact')}.png`;
  await api.store.put(`artefacts/${name}`, png);
});

const EXPIRES_AT = new Date(NOON.getTime() + 60_000);
const link = (path = `/v1/artefacts/${name}`) => api.signedUrls.sign(path, EXPIRES_AT).slice(PUBLIC_BASE_URL.length);
const expectNoFile = (path: string) => expectRefusal(api, () => api.call(path), { code: 'resource_not_found' });

describe('a signed link', () => {
  it('gives the file without a key, in a way that browsers handle safely', async () => {
    const response = await fetch(api.url + link());
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(png)).toBe(true);
    expect(response.headers.get('Content-Type')).toBe('image/png');
    expect(response.headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(response.headers.get('Content-Security-Policy')).toBe("default-src 'none'; sandbox");
  });

  it('works until the second it names, and no longer', async () => {
    now = new Date(EXPIRES_AT.getTime() - 1);
    expect((await fetch(api.url + link())).status).toBe(200);
    now = EXPIRES_AT;
    await expectNoFile(link());
  });

  it('to a file that is no longer kept is refused', async () => {
    await api.store.remove(`artefacts/${name}`);
    await expectNoFile(link());
  });
});

describe('a link is refused', () => {
  it('without its signature, or its time', async () => {
    await expectNoFile(`/v1/artefacts/${name}`);
    await expectNoFile(link().replace(/&signature=.*/, ''));
    await expectNoFile(link().replace(/expires=\d+&/, ''));
  });

  it('when a character of it was changed', async () => {
    await expectNoFile(link().replace(/expires=(\d+)/, (_, seconds) => `expires=${Number(seconds) + 1}`));
    await expectNoFile(link().replace(/.$/, (digit) => (digit === '0' ? '1' : '0')));
    await expectNoFile(link().replace(name, `${newId('artefact')}.png`));
  });

  it('when it was signed with another key', async () => {
    const forged = createSignedUrls(PUBLIC_BASE_URL, 'another key').sign(`/v1/artefacts/${name}`, EXPIRES_AT);
    await expectNoFile(forged.slice(PUBLIC_BASE_URL.length));
  });

  it.each(['upl_11111111', '..%2Fuploads%2Fupl_11111111', 'art_11111111', 'art_11111111.png%2F..%2F..%2Fsecret'])(
    'to %s, which is no name of an artefact, even when it is signed',
    (other) => expectNoFile(link(`/v1/artefacts/${other}`)),
  );
});
