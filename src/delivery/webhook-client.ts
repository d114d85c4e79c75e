/**
 * The only code of the service that connects to addresses which customers choose.
 *
 * It uses Node's own client rather than a pool: a connection serves one delivery and is closed, so that no check of an
 * address outlives the connection it was made for, a receiver can't hold anything but the delivery meant for it, and
 * aborting closes even a socket that is still connecting.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIPv6, type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { DeliveryError, deliveryErrorOf } from './delivery-error.ts';
import type { ResolveHost } from './resolve-host.ts';
import { checkWebhookUrl, createTargetRules, type TargetRules, type WebhookTarget } from './webhook-target.ts';

/** More of a receiver's answer isn't read: its status is all that matters. */
const ANSWER_BYTES = 64 * 1024;
/** How long one of several addresses may take before the next is tried. */
const ADDRESS_ATTEMPT_MS = 2_000;

export interface WebhookMessage {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface WebhookAnswer {
  statusCode: number;
  /** The header `Retry-After`, as it came. */
  retryAfter: string | undefined;
}

export interface WebhookClient {
  /** Posts a message, follows nothing, and reads the status. @throws DeliveryError when no complete answer came. */
  post(message: WebhookMessage): Promise<WebhookAnswer>;
}

export interface WebhookClientOptions {
  /** For development: http and inside addresses are allowed too. */
  allowPrivateTargets: boolean;
  resolveHost?: ResolveHost;
  /** Limit of the whole exchange: name, connection, TLS, headers and body. */
  timeoutMs?: number;
  /** PEM certificates to trust instead of the public authorities. */
  certificateAuthorities?: string;
}

/** How long a destination may take to answer. */
export const RESPONSE_TIMEOUT_MS = 10_000;

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

async function exchange(message: WebhookMessage, options: ExchangeOptions): Promise<WebhookAnswer> {
  const target = await checkWebhookUrl(message.url, options.rules);
  options.signal.throwIfAborted();
  const response = await send(message, target, options);
  const { statusCode = 0, headers } = response;
  await discardBody(response);
  return { statusCode, retryAfter: headers['retry-after'] };
}

/** What TLS and TCP take beside HTTP's own options. */
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
    // A connection of its own, closed afterwards.
    agent: false,
    signal,
    lookup: answerWith(target.addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    ca: certificateAuthorities,
  };
  return new Promise((resolve, reject) => {
    const request = (target.url.protocol === 'https:' ? httpsRequest : httpRequest)(options);
    request.once('response', resolve);
    // Stays: a later error of the same connection must not surface as an uncaught one.
    request.on('error', reject);
    // Ends without either: a receiver that switches protocols, for one.
    request.once('close', () => reject(new DeliveryError('connection_reset')));
    request.end(body);
  });
}

/** In place of a second look-up, which could answer otherwise than the one that was judged. */
function answerWith(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, { all }, callback) => {
    if (all) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
}

/** Reads an answer to its end, so that one which drips is a failure; an endless one is cut. */
async function discardBody(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES) return;
  }
}
