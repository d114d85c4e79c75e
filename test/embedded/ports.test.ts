import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { choosePort, findFreePort, isPortFree } from '../../src/embedded/ports.ts';

const HOST = '127.0.0.1';
const wish = { what: 'the API', variable: 'API_PORT' };
let taken: number;
let server: Server;

beforeAll(async () => {
  taken = await findFreePort();
  server = createServer();
  await new Promise<void>((resolve) => server.listen(taken, HOST, resolve));
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
});

it('uses a free default port', async () => {
  const defaultPort = await findFreePort();
  expect(await choosePort({ ...wish, defaultPort }, HOST)).toEqual({ port: defaultPort, moved: false });
});

it('replaces a taken default port by a free one', async () => {
  const { port, moved } = await choosePort({ ...wish, defaultPort: taken }, HOST);
  expect(moved).toBe(true);
  expect(port).not.toBe(taken);
  expect(await isPortFree(port)).toBe(true);
});

it('refuses a chosen port that is taken, naming port and variable', async () => {
  const choosing = choosePort({ ...wish, defaultPort: 1, chosenPort: taken }, HOST);
  await expect(choosing).rejects.toThrow(new RegExp(`Port ${taken}.*API_PORT`));
});

it('port 0 means any free port', async () => {
  const { port } = await choosePort({ ...wish, defaultPort: taken, chosenPort: 0 }, HOST);
  expect(port).toBeGreaterThan(0);
});

it('never gives out a port twice', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => findFreePort()));
  expect(new Set(ports).size).toBe(50);
});
