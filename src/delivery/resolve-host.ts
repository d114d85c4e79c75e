import { lookup, Resolver } from 'node:dns/promises';

/** Answers every address of a host name. @throws when there is none. */
export type ResolveHost = (hostname: string) => Promise<string[]>;

/**
 * Asks the DNS itself: the machine's name servers, or those given as `address:port`. Host names here are chosen by
 * customers: `getaddrinfo` would also read the machine's hosts file and search domains, and would keep one of the
 * process's few pool threads for as long as a slow name server likes.
 */
export function createDnsResolver({ servers }: { servers?: readonly string[] } = {}): ResolveHost {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    // Most hosts have addresses of one family only, so one failure is ordinary.
    if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason;
    return [ipv4, ipv6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** As every other program on the machine resolves: knows `localhost` and the names of a compose file. */
export const resolveLikeTheSystem: ResolveHost = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
};
