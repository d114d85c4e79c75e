import { lookup, Resolver } from 'node:dns/promises';

/** Returns every address of a host name. @throws when there is none */
export type ResolveHost = (hostname: string) => Promise<string[]>;

/**
 * Queries DNS directly: the machine's name servers, or `servers` as `address:port`. Customers choose the host names, so
 * `getaddrinfo` is unsuitable: it also reads the machine's hosts file and search domains, and a slow name server would
 * block one of the process's few pool threads.
 */
export function createDnsResolver({ servers }: { servers?: readonly string[] } = {}): ResolveHost {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    // Most hosts have addresses of one family only.
    if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason;
    return [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** Resolves as the operating system does: knows `localhost` and the service names of a compose file. */
export const resolveLikeTheSystem: ResolveHost = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
};
