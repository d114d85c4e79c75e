/** Checks webhook URLs: when an endpoint is created and again before every connection. */
import { isIP } from 'node:net';
import { DeliveryError } from './delivery-error.ts';
import { isPublicAddress } from './public-address.ts';
import { createDnsResolver, type ResolveHost, resolveLikeTheSystem } from './resolve-host.ts';

export interface TargetRules {
  /** For development: also allows http and private addresses. */
  allowPrivateTargets: boolean;
  resolveHost: ResolveHost;
}

/** The rules of a process. Private targets resolve like the system, so that `localhost` works. */
export function createTargetRules(allowPrivateTargets: boolean): TargetRules {
  return { allowPrivateTargets, resolveHost: allowPrivateTargets ? resolveLikeTheSystem : createDnsResolver() };
}

export interface WebhookTarget {
  url: URL;
  /** Every address of the host, all checked. Connect to one of these without another look-up. */
  addresses: readonly string[];
}

/**
 * Resolves the host of a webhook URL and checks its addresses. One private address among public ones refuses the URL: that
 * is never an accident.
 *
 * @throws DeliveryError `url_malformed`, `url_not_https`, `url_not_http`, `url_has_credentials`, `host_not_found`, `address_not_public`
 */
export async function checkWebhookUrl(text: string, rules: TargetRules): Promise<WebhookTarget> {
  const url = parseUrl(text, rules);
  const addresses = await addressesOf(url, rules);
  if (!rules.allowPrivateTargets && !addresses.every(isPublicAddress)) throw new DeliveryError('address_not_public');
  return { url, addresses };
}

/** Why a webhook URL is refused, in words for its owner; null when it is allowed. */
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
  // WHATWG parsing also normalises 0x7f.1, 2130706433, 0177.0.0.1 and the like to dotted decimal. But it silently drops
  // line ends and tabs, which would yield another address than the one written, so these are refused first.
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text);
  if (url === null) throw new DeliveryError('url_malformed');
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowPrivateTargets)) {
    throw new DeliveryError(allowPrivateTargets ? 'url_not_http' : 'url_not_https');
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
