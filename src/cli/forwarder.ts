/** Sends an event to a receiver on this computer, byte for byte and signed as the service signs a delivery. */
import { signatureHeaders } from '../webhooks/signing.ts';
import { UsageError } from './exit-codes.ts';

export interface Forwarded {
  isDelivered: boolean;
  /** Null: no response. */
  status: number | null;
  problem: string | null;
  durationMs: number;
}

interface ForwarderOptions {
  address: string;
  secret: string;
  now: () => Date;
  /** The service's own limit for a receiver. */
  timeoutMs?: number;
}

export function createForwarder({ address, secret, now, timeoutMs = 10_000 }: ForwarderOptions) {
  return async (eventId: string, body: string, signal: AbortSignal): Promise<Forwarded> => {
    const timestampSeconds = Math.floor(now().getTime() / 1000);
    const startedAt = performance.now();
    const duration = () => Math.round(performance.now() - startedAt);
    try {
      const response = await fetch(address, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...signatureHeaders({ eventId, body, timestampSeconds, secrets: [secret] }),
        },
        body,
        // As the service: a redirect is a failure.
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      await response.body?.cancel();
      return { isDelivered: response.ok, status: response.status, problem: null, durationMs: duration() };
    } catch (error) {
      signal.throwIfAborted();
      return { isDelivered: false, status: null, problem: problemOf(error, timeoutMs), durationMs: duration() };
    }
  };
}

/** `localhost:3000/hook` and complete addresses. @throws UsageError */
export function forwardAddressOf(text: string | undefined): string {
  if (text === undefined) throw new UsageError('Where to? Add --forward-to localhost:3000');
  const address = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!URL.canParse(address))
    throw new UsageError(`--forward-to ${text} is not an address such as localhost:3000/hook.`);
  return new URL(address).href;
}

function problemOf(error: unknown, timeoutMs: number): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return `no response within ${timeoutMs / 1000} s`;
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code === 'ECONNREFUSED' ? 'nothing listens there' : (cause?.code ?? String(error));
}
