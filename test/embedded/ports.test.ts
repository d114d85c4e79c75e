import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { choosePort, claimPort, findFreePort, isPortFree } from '../../src/embedded/ports.ts';

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

it('a free default port is used', async () => {
  const defaultPort = await findFreePort();
  expect(await choosePort({ ...wish, defaultPort }, HOST)).toEqual({ port: defaultPort, moved: false });
});

it('a taken default port is replaced by a free one', async () => {
  const { port, moved } = await choosePort({ ...wish, defaultPort: taken }, HOST);
  expect(moved).toBe(true);
  expect(port).not.toBe(taken);
  expect(await isPortFree(port)).toBe(true);
});

it('a chosen port that is taken is refused, naming port and variable', async () => {
  const choosing = choosePort({ ...wish, defaultPort: 1, chosenPort: taken }, HOST);
  await expect(choosing).rejects.toThrow(new RegExp(`Port ${taken}.*API_PORT`));
});

it('port 0 means any free port', async () => {
  const { port } = await choosePort({ ...wish, defaultPort: taken, chosenPort: 0 }, HOST);
  expect(port).toBeGreaterThan(0);
});

it('a port is never given out twice', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => findFreePort()));
  expect(new Set(ports).size).toBe(50);
});

it('a port given out in another process is not given out here until that process ends', async () => {
  const ports = new URL('../../src/embedded/ports.ts', import.meta.url).href;
  const program = `import { findFreePort } from '${ports}'; console.log(String(await findFreePort())); process.stdin.resume();`;
  const other = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(other.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());

  expect(await isPortFree(port)).toBe(true);
  // Other systems than Linux have no claims.
  expect(await claimPort(port)).toBe(process.platform !== 'linux');

  other.stdin.end();
  await once(other, 'exit');
  expect(await claimPort(port)).toBe(true);
});
