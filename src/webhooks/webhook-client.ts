/**
 * The only code of the service that connects to addresses chosen by customers.
 *
 * It uses Node's own client, not a connection pool: each connection serves one delivery and is closed. So the check of
 * an address holds for one connection only, a receiver can hold up nothing but its own delivery, and aborting closes
 * even a socket that is still connecting.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIPv6, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { DeliveryError, deliveryErrorOf } from './delivery-error.ts';
import type { ResolveHost } from './resolve-host.ts';
import { RESPONSE_TIMEOUT_MS } from './response-rules.ts';
import { checkWebhookUrl, createTargetRules, type TargetRules, type WebhookTarget } from './webhook-target.ts';

/** Only the status matters, so a longer response body is cut here. */
const RESPONSE_BYTES = 64 * 1024;
/** Connection timeout of each address before the next one is tried. */
const ADDRESS_ATTEMPT_MS = 2_000;

export interface WebhookMessage {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface WebhookResponse {
  statusCode: number;
  /** The header `Retry-After`, unparsed. */
  retryAfter: string | undefined;
}

export interface WebhookClient {
  /** Posts a message without following redirects. @throws DeliveryError when no complete response arrived */
  post(message: WebhookMessage): Promise<WebhookResponse>;
}

export interface WebhookClientOptions {
  /** For development: also allows http and private addresses. */
  allowPrivateTargets: boolean;
  resolveHost?: ResolveHost;
  /** Limit of the whole exchange: DNS, connection, TLS, headers and body. */
  timeoutMs?: number;
  /** PEM certificates to trust instead of the public authorities. */
  certificateAuthorities?: string;
}

export function createWebhookClient({
  allowPrivateTargets,
  resolveHost,
  timeoutMs = RESPONSE_TIMEOUT_MS,
  certificateAuthorities,
}: WebhookClientOptions): WebhookClient {
  const rules: TargetRules = { ...createTargetRules(allowPrivateTargets), ...(resolveHost && { resolveHost }) };
  return {
    async post(message) {
      const controller = new AbortController();
      const { promise: outOfTime, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => {
        reject(new DeliveryError('timeout'));
        controller.abort();
      }, timeoutMs);
      try {
        return await Promise.race([
          outOfTime,
          exchange(message, { rules, signal: controller.signal, certificateAuthorities }),
        ]);
      } catch (error) {
        throw deliveryErrorOf(error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

interface ExchangeOptions {
  rules: TargetRules;
  signal: AbortSignal;
  certificateAuthorities: string | undefined;
}

async function exchange(message: WebhookMessage, options: ExchangeOptions): Promise<WebhookResponse> {
  const target = await checkWebhookUrl(message.url, options.rules);
  options.signal.throwIfAborted();
  const response = await send(message, target, options);
  const { statusCode = 0, headers } = response;
  await discardBody(response);
  return { statusCode, retryAfter: headers['retry-after'] };
}

/** Options of TLS and TCP that Node's HTTP types lack. */
interface AddressOptions extends Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> {
  ca: string | undefined;
}

function send(
  { headers, body }: WebhookMessage,
  target: WebhookTarget,
  { signal, certificateAuthorities }: ExchangeOptions,
): Promise<IncomingMessage> {
  const options: RequestOptions & AddressOptions = {
    ...urlToHttpOptions(target.url),
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    // A separate connection, closed afterwards.
    agent: false,
    signal,
    lookup: lookupOf(target.addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    ca: certificateAuthorities,
  };
  return new Promise((resolve, reject) => {
    const request = (target.url.protocol === 'https:' ? httpsRequest : httpRequest)(options);
    request.once('response', resolve);
    // Stays registered: a later error of the same connection must not become an uncaught exception.
    request.on('error', reject);
    // Without a response or an error, as when a receiver switches protocols.
    request.once('close', () => reject(new DeliveryError('connection_reset')));
    request.end(body);
  });
}

/**
 * Returns the checked addresses: a second DNS look-up could return others. Later, as a real look-up does: before nobody listens for a
 * connection that fails at once.
 */
export function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, { all }, callback) => {
    if (all) process.nextTick(callback, null, found);
    else process.nextTick(callback, null, found[0]?.address ?? '', found[0]?.family);
  };
}

/** Reads the response to its end, so that a slow trickle counts as a timeout; an endless body is cut. */
async function discardBody(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > RESPONSE_BYTES) return;
  }
}
