/** Chooses the ports of one service. */
import { choosePort, type PortWish } from './ports.ts';
import type { Reporter } from './reporter.ts';
import type { EmbeddedSettings } from './settings.ts';

export const LOOPBACK = '127.0.0.1';

export interface ServicePorts {
  api: number;
  temporal: number;
  temporalWeb: number;
  postgres: number;
  identity: number;
}

/**
 * `startsTemporal` is false if the caller runs the Temporal server; it then needs no ports.
 *
 * @throws PortTakenError when another program holds a port that the settings ask for.
 */
export async function chooseServicePorts(
  { apiHost, apiPort, temporalPort, temporalWebPort, postgresPort, identityPort }: EmbeddedSettings,
  { startsTemporal, reporter }: { startsTemporal: boolean; reporter: Reporter },
): Promise<ServicePorts> {
  const choose = async (wish: PortWish, host = LOOPBACK) => {
    const { port, moved } = await choosePort(wish, host);
    if (moved) reporter.say(`  Port ${wish.defaultPort} is taken; ${wish.what} listens on ${port} instead.`);
    return port;
  };
  const wish = (what: string, variable: string, defaultPort: number, chosenPort: number | undefined) => ({
    what,
    variable,
    defaultPort,
    chosenPort,
  });
  // One after another: two concurrent searches could find the same free port.
  return {
    api: await choose(wish('the API', 'API_PORT', 8080, apiPort), apiHost),
    temporal: startsTemporal ? await choose(wish('Temporal', 'TEMPORAL_PORT', 7233, temporalPort)) : 0,
    temporalWeb: startsTemporal ? await choose(wish('Temporal Web', 'TEMPORAL_WEB_PORT', 8233, temporalWebPort)) : 0,
    postgres: await choose(wish('PostgreSQL', 'POSTGRES_PORT', 5433, postgresPort)),
    identity: await choose(wish('the identity provider', 'IDENTITY_PORT', 8081, identityPort)),
  };
}
