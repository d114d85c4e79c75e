/** Four processes on one machine, with one configured address, serve their metrics at different ports. */
import { createServer } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { chooseMetricsAddresses, metricsUrls } from '../../src/embedded/metrics-addresses.ts';
import { claimPort, findFreePort, isPortFree } from '../../src/embedded/ports.ts';

const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function occupy(port: number): Promise<void> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
}

/** The first of so many successive free ports, which no other test is given. */
async function freeRun(count: number): Promise<number> {
  for (;;) {
    const first = await findFreePort();
    const others = Array.from({ length: count - 1 }, (_, index) => first + 1 + index);
    const free = await Promise.all(others.map(async (port) => (await claimPort(port)) && isPortFree(port)));
    if (free.every(Boolean)) return first;
  }
}

it('each process gets its own port for metrics, from the configured one on, past those that the service uses', async () => {
  const first = await freeRun(8);
  const addresses = await chooseMetricsAddresses(
    { METRICS_ADDRESS: `127.0.0.1:${first}`, TEMPORAL_METRICS_ADDRESS: `127.0.0.1:${first + 1}` },
    [first + 2],
  );
  const at = (offset: number) => `127.0.0.1:${first + offset}`;
  expect(Object.fromEntries(addresses)).toEqual({
    API: { METRICS_ADDRESS: at(0) },
    'Orchestration worker': { METRICS_ADDRESS: at(1), TEMPORAL_METRICS_ADDRESS: at(5) },
    'Inference worker': { METRICS_ADDRESS: at(3), TEMPORAL_METRICS_ADDRESS: at(6) },
    'Webhook worker': { METRICS_ADDRESS: at(4), TEMPORAL_METRICS_ADDRESS: at(7) },
  });
  expect(metricsUrls(addresses)['Webhook worker']).toEqual([`http://${at(4)}/metrics`, `http://${at(7)}/metrics`]);
});

it('port 0 for metrics gives each process a free port', async () => {
  const addresses = await chooseMetricsAddresses({ METRICS_ADDRESS: '127.0.0.1:0' });
  const ports = [...addresses.values()].map(({ METRICS_ADDRESS }) => METRICS_ADDRESS?.split(':')[1]);
  expect(new Set(ports).size).toBe(4);
  expect(ports).not.toContain('0');
});

it('a metrics port of another program is refused, naming process and variable', async () => {
  const first = await freeRun(4);
  await occupy(first + 2);
  await expect(chooseMetricsAddresses({ METRICS_ADDRESS: `127.0.0.1:${first}` })).rejects.toThrow(
    new RegExp(`^Port ${first + 2} is taken .*METRICS_ADDRESS=127.0.0.1:${first}.*Inference worker`),
  );
});

it('no process gets a metrics port by default, and invalid addresses are left to the processes to refuse', async () => {
  expect(await chooseMetricsAddresses({})).toEqual(new Map());
  expect(await chooseMetricsAddresses({ METRICS_ADDRESS: 'everywhere' })).toEqual(new Map());
});
