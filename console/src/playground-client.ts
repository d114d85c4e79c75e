/** The client of `/v1` that the playground uses: it waits for a service that is away, and never for ever. */
import { VehicleInferenceClient } from '../../src/client/client.ts';
import { pause } from '../../src/client/http.ts';
import { noteAway } from './api.ts';
import { playgroundKey } from './playground-key.ts';

/** Until the first byte of an answer. Pictures take longer on the way, so those get the time limit of an attempt. */
const ANSWER_MS = 15_000;
const PICTURES_MS = 120_000;
const AWAY_PAUSE_MS = 2_000;
/** The service sends something every 15 seconds. */
const SILENCE_MS = 45_000;
/** From proxies whose service is away. */
const AWAY_STATUSES = [502, 504];

/** @throws ApiError if the role may not make keys of the mode */
export async function connect(livemode: boolean): Promise<VehicleInferenceClient> {
  return new VehicleInferenceClient({
    apiKey: await playgroundKey(livemode),
    baseUrl: location.origin,
    attemptTimeoutMs: PICTURES_MS,
    fetch: (url, init) => sendWithKey(livemode, url, init ?? {}),
  });
}

/** Another page of this member may have rotated the key since. */
async function sendWithKey(livemode: boolean, url: RequestInfo | URL, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (!headers.has('Authorization')) return sendUntilAnswered(url, init);
  const send = (secret: string) => {
    headers.set('Authorization', `Bearer ${secret}`);
    return sendUntilAnswered(url, { ...init, headers });
  };
  const secret = await playgroundKey(livemode);
  const response = await send(secret);
  return response.status === 401 ? send(await playgroundKey(livemode, secret)) : response;
}

/** The same request again, with the same idempotency key, until it is answered or given up. */
async function sendUntilAnswered(url: RequestInfo | URL, init: RequestInit): Promise<Response> {
  for (;;) {
    const response = await send(url, init).catch((error: unknown) => {
      if (init.signal?.aborted) throw error;
      return null;
    });
    const isAway = response === null || AWAY_STATUSES.includes(response.status);
    noteAway(isAway);
    if (!isAway) return response;
    await pause(AWAY_PAUSE_MS, init.signal ?? undefined);
  }
}

async function send(url: RequestInfo | URL, init: RequestInit): Promise<Response> {
  const answered = new AbortController();
  const isSmall = init.body === undefined || typeof init.body === 'string';
  const timer = setTimeout(() => answered.abort(), isSmall ? ANSWER_MS : PICTURES_MS);
  const signals = [answered.signal, ...(init.signal ? [init.signal] : [])];
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream') ?? false;
    return isStream && response.body ? new Response(endingWhenSilent(response.body), response) : response;
  } finally {
    clearTimeout(timer);
  }
}

/** A connection that broke unnoticed: the client opens another one. */
function endingWhenSilent(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let timer: ReturnType<typeof setTimeout>;
  const wait = (controller: TransformStreamDefaultController) => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.error(new TypeError('the stream is silent')), SILENCE_MS);
  };
  return body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      start: wait,
      transform(chunk, controller) {
        wait(controller);
        controller.enqueue(chunk);
      },
      flush: () => clearTimeout(timer),
    }),
  );
}
