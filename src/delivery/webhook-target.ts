/** Where a webhook may go. Asked when an endpoint is created, and again at every single connection. */
import { isIP } from 'node:net';
import { DeliveryError } from './delivery-error.ts';
import { isPublicAddress } from './public-address.ts';
import { createDnsResolver, type ResolveHost, resolveLikeTheSystem } from './resolve-host.ts';

export interface TargetRules {
  /** For development: http and inside addresses are allowed too. */
  allowPrivateTargets: boolean;
  resolveHost: ResolveHost;
}

/** The rules of a process, by the one setting for development targets. */
export function createTargetRules(allowPrivateTargets: boolean): TargetRules {
  return { allowPrivateTargets, resolveHost: allowPrivateTargets ? resolveLikeTheSystem : createDnsResolver() };
}

export interface WebhookTarget {
  url: URL;
  /** Every address of the host, each of them judged: connect to one of these and look nothing up again. */
  addresses: readonly string[];
}

/**
 * Resolves the host of a webhook URL and judges what it finds. One inside address among public ones refuses them all:
 * nobody has that by accident.
 *
 * @throws DeliveryError `url_malformed`, `url_not_https`, `url_has_credentials`, `host_not_found`, `address_not_public`
 */
export async function checkWebhookUrl(text: string, rules: TargetRules): Promise<WebhookTarget> {
  const url = parseUrl(text, rules);
  const addresses = await addressesOf(url, rules);
  if (!rules.allowPrivateTargets && !addresses.every(isPublicAddress)) throw new DeliveryError('address_not_public');
  return { url, addresses };
}

/** Why a webhook may not go to a URL, in words for its owner; null when it may. */
export async function findWebhookUrlProblem(text: string, rules: TargetRules): Promise<string | null> {
  try {
    await checkWebhookUrl(text, rules);
    return null;
  } catch (error) {
    if (error instanceof DeliveryError) return error.message;
    throw error;
  }
}

function parseUrl(text: string, { allowPrivateTargets }: TargetRules): URL {
  // Also brings 0x7f.1, 2130706433, 0177.0.0.1 and their like into the one spelling that the check understands.
  // A parser that is as lenient as browsers drops line ends and tabs: another address than the one that was written.
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  if (url === null) throw new DeliveryError('url_malformed');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowPrivateTargets)) {
    throw new DeliveryError('url_not_https');
  }
  if (url.username !== '' || url.password !== '') throw new DeliveryError('url_has_credentials');
  return url;
}

async function addressesOf(url: URL, { resolveHost }: TargetRules): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) !== 0) return [host];
  let addresses: readonly string[] = [];
  try {
    addresses = await resolveHost(host);
  } catch (error) {
    throw new DeliveryError('host_not_found', { cause: error });
  }
  if (addresses.length === 0) throw new DeliveryError('host_not_found');
  return addresses;
}
