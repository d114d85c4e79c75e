import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All that is routed between networks lies here; the rest of IPv6 is special in one way or another. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** Public by its number, yet answered by the cloud's own machinery on every virtual machine (Azure's WireServer). */
const METADATA_ADDRESSES = new Set(['168.63.129.16']);

/**
 * Whether an address is one that anybody on the internet could reach. Everything else is refused: loopback, private,
 * link-local (with the metadata services of most clouds), carrier-grade NAT, multicast, reserved, documentation,
 * benchmarking; and each form of IPv6 that wraps an IPv4 address (mapped, NAT64, 6to4, Teredo), since what it wraps may
 * be an inside address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0 || METADATA_ADDRESSES.has(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}
