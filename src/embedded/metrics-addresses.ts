/** Derives the metrics addresses of all processes on one machine from one configured address: each needs its own port. */
import { findFreePort, isPortFree } from './ports.ts';
import { API_PROCESS, WORKER_PROCESSES } from './service-processes.ts';
import { SettingsError } from './settings.ts';

const VARIABLES = {
  METRICS_ADDRESS: [API_PROCESS, ...WORKER_PROCESSES],
  TEMPORAL_METRICS_ADDRESS: WORKER_PROCESSES,
} as const;

/** The variables of each process, by its name. */
export type MetricsAddresses = ReadonlyMap<string, Partial<Record<keyof typeof VARIABLES, string>>>;

/**
 * The first process gets the configured address, each further one the next port; port 0 gives each a free one. `reserved`
 * are ports that the service uses otherwise.
 *
 * @throws SettingsError when another program holds a port.
 */
export async function chooseMetricsAddresses(
  environment: NodeJS.ProcessEnv,
  reserved: Iterable<number> = [],
): Promise<MetricsAddresses> {
  const used = new Set(reserved);
  const addresses = new Map<string, Partial<Record<keyof typeof VARIABLES, string>>>();
  for (const [variable, processes] of Object.entries(VARIABLES) as [
    keyof typeof VARIABLES,
    typeof WORKER_PROCESSES,
  ][]) {
    const configured = /^(\S+):(\d{1,5})$/.exec(environment[variable] ?? '');
    // Each process refuses an invalid address itself, and names the variable.
    if (!configured) continue;
    const [, host = '', first = ''] = configured;
    const listenHost = host.replace(/^\[|\]$/g, '');
    let port = Number(first);
    for (const { name } of processes) {
      while (port !== 0 && used.has(port)) port += 1;
      const own = port === 0 ? await findFreePort(listenHost) : port;
      if (port !== 0 && !(await isPortFree(own, listenHost))) {
        throw new SettingsError(
          `Port ${own} is taken by another program. With ${variable}=${environment[variable]}, each process takes the next ` +
            `port from there on, and the ${name} this one. Choose another address, or port 0 for any free ports.`,
        );
      }
      used.add(own);
      addresses.set(name, { ...addresses.get(name), [variable]: `${host}:${own}` });
    }
  }
  return addresses;
}

/** The metrics URLs of each process, for people and for Prometheus. */
export function metricsUrls(addresses: MetricsAddresses): Record<string, string[]> {
  return Object.fromEntries(
    [...addresses].map(([name, variables]) => [
      name,
      Object.values(variables).map((address) => `http://${address.replace(/^0\.0\.0\.0:/, '127.0.0.1:')}/metrics`),
    ]),
  );
}
