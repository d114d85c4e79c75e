import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DeliveryError } from '../../src/webhooks/delivery-error.ts';
import { createWebhookClient, lookupOf, type WebhookClient } from '../../src/webhooks/webhook-client.ts';
import { checkWebhookUrl } from '../../src/webhooks/webhook-target.ts';
import { selfSignedCertificate } from './self-signed-certificate.ts';

const BODY = '{"text":"größer"}';
/** The clock of the sockets, which no test freezes. */
const realTimeout = setTimeout;
/** By then a byte has crossed loopback. */
const untilReceived = () => new Promise((resolve) => void realTimeout(resolve, 20));
/** Reaches loopback, as in development; names resolve to 127.0.0.1. */
const client = createWebhookClient({ allowPrivateTargets: true, resolveHost: async () => ['127.0.0.1'] });

/** A server that counts its connections; `closed` settles when the latest is closed. */
interface CountingServer {
  port: number;
  connections: number;
  open: Set<Socket>;
}

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function listen(server: Server, address = '127.0.0.1', port = 0): Promise<CountingServer> {
  const counting: CountingServer = { port: 0, connections: 0, open: new Set() };
  server.on('connection', (socket: Socket) => {
    counting.connections += 1;
    counting.open.add(socket);
    socket.on('close', () => counting.open.delete(socket));
    socket.on('error', () => {});
  });
  server.listen(port, address);
  await once(server, 'listening');
  counting.port = (server.address() as AddressInfo).port;
  closers.push(async () => {
    server.close();
    for (const socket of counting.open) socket.destroy();
    await once(server, 'close');
  });
  return counting;
}

const serve = (listener: RequestListener) => listen(createHttpServer(listener));
/** A server that speaks raw TCP, and so any nonsense. */
const serveRaw = (onConnection: (socket: Socket) => void) => listen(createTcpServer(onConnection));

function post(port: number, { through = client, url = `http://receiver.example:${port}/hook?a=b` } = {}) {
  return through.post({ url, headers: { 'content-type': 'application/json', 'x-test': '1' }, body: BODY });
}

async function failure(answer: Promise<unknown>): Promise<string> {
  const outcome = await answer.then(
    () => 'answered',
    (error: unknown) => error,
  );
  return outcome instanceof DeliveryError ? outcome.code : String(outcome);
}

async function untilClosed(server: CountingServer): Promise<void> {
  // Not `once`, which a reset would make reject.
  await Promise.all([...server.open].map((socket) => new Promise((resolve) => socket.on('close', resolve))));
}

describe('an exchange', () => {
  it('an exchange posts the exact body with its headers, to the path and under the host of the URL', async () => {
    const seen: unknown[] = [];
    const server = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
        response.writeHead(204).end();
      });
    });
    expect(await post(server.port)).toEqual({ statusCode: 204, retryAfter: undefined });
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/hook?a=b',
        headers: {
          host: `receiver.example:${server.port}`,
          connection: 'close',
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(BODY)),
          'x-test': '1',
        },
        body: BODY,
      },
    ]);
  });

  it('an exchange returns any status, with its Retry-After', async () => {
    const server = await serve((_request, response) => response.writeHead(503, { 'retry-after': '120' }).end('sorry'));
    expect(await post(server.port)).toEqual({ statusCode: 503, retryAfter: '120' });
  });

  it('an exchange uses a separate connection and closes it', async () => {
    const server = await serve((_request, response) => response.end());
    await post(server.port);
    await untilClosed(server);
    await post(server.port);
    await untilClosed(server);
    expect(server.connections).toBe(2);
  });

  it('an exchange follows no redirect', async () => {
    const elsewhere = await serve((_request, response) => response.end());
    for (const statusCode of [301, 302, 303, 307, 308]) {
      const server = await serve((_request, response) =>
        response.writeHead(statusCode, { location: `http://127.0.0.1:${elsewhere.port}/` }).end(),
      );
      expect(await post(server.port)).toEqual({ statusCode, retryAfter: undefined });
    }
    expect(elsewhere.connections).toBe(0);
  });

  it('an exchange tries the next address when the first refuses', async () => {
    const server = await serve((_request, response) => response.end());
    const through = createWebhookClient({
      allowPrivateTargets: true,
      resolveHost: async () => ['127.0.0.2', '127.0.0.1'],
    });
    expect(await post(server.port, { through })).toMatchObject({ statusCode: 200 });
  });

  it('an exchange cuts an endless body and returns the status', async () => {
    let sent = 0;
    const server = await serve((_request, response) => {
      const chunk = Buffer.alloc(16_384);
      const pour = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      };
      response.on('drain', pour);
      pour();
    });
    expect(await post(server.port)).toMatchObject({ statusCode: 200 });
    await untilClosed(server);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });
});

describe('the limit of 10 seconds', () => {
  // Only this realm's setTimeout: sockets, and the timers inside Node, continue as usual.
  const freezeTime = () =>
    vi.useFakeTimers({ toNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });

  async function heldAnswer() {
    const { promise: arrived, resolve } = Promise.withResolvers<ServerResponse>();
    const server = await serve((_request, response) => resolve(response));
    freezeTime();
    const answer = failure(post(server.port));
    return { server, answer, response: await arrived };
  }

  it('the limit of 10 seconds accepts a response at 9.9 s', async () => {
    const { answer, response } = await heldAnswer();
    vi.advanceTimersByTime(9_900);
    response.end();
    expect(await answer).toBe('answered');
  });

  it('the limit of 10 seconds ends the exchange and its connection before 10.1 s', async () => {
    const { server, answer } = await heldAnswer();
    vi.advanceTimersByTime(10_100);
    expect(await answer).toBe('timeout');
    await untilClosed(server);
  });

  it('the limit of 10 seconds is not extended by a trickling body', async () => {
    const { server, answer, response } = await heldAnswer();
    response.writeHead(200).write('a');
    for (let second = 0; second < 11; second += 1) {
      response.write('a');
      await untilReceived();
      vi.advanceTimersByTime(1_000);
    }
    expect(await answer).toBe('timeout');
    await untilClosed(server);
  });

  it('the limit of 10 seconds is not extended by trickling headers', async () => {
    const { promise: arrived, resolve } = Promise.withResolvers<Socket>();
    const server = await serveRaw((socket) => socket.once('data', () => resolve(socket)));
    freezeTime();
    const answer = failure(post(server.port));
    const socket = await arrived;
    for (const piece of 'HTTP/1.1 200 OK\r\n') {
      socket.write(piece);
      await untilReceived();
      vi.advanceTimersByTime(1_000);
    }
    expect(await answer).toBe('timeout');
    await untilClosed(server);
  });

  it('the limit of 10 seconds covers a TLS handshake that never happens', async () => {
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    const server = await serveRaw((socket) => socket.once('data', () => resolve()));
    freezeTime();
    const answer = failure(post(server.port, { url: `https://receiver.example:${server.port}/` }));
    await arrived;
    vi.advanceTimersByTime(10_000);
    expect(await answer).toBe('timeout');
    await untilClosed(server);
  });

  it('the limit of 10 seconds covers a silent name server, whose late answer opens no connection', async () => {
    const server = await serve((_request, response) => response.end());
    const { promise: late, resolve: answerLate } = Promise.withResolvers<string[]>();
    const through = createWebhookClient({ allowPrivateTargets: true, resolveHost: () => late });
    freezeTime();
    const answer = failure(post(server.port, { through }));
    vi.advanceTimersByTime(10_000);
    expect(await answer).toBe('timeout');
    vi.useRealTimers();
    answerLate(['127.0.0.1']);
    // Any effect of the late answer precedes the end of this exchange.
    await post(server.port);
    expect(server.connections).toBe(1);
  });

  it('an exchange reaches a healthy receiver while 200 exchanges with a stuck one hang', async () => {
    const stuck = await serve(() => {});
    const healthy = await serve((_request, response) => response.end());
    freezeTime();
    const hanging = Array.from({ length: 200 }, () => failure(post(stuck.port)));
    for (let index = 0; index < 20; index += 1) {
      expect(await post(healthy.port)).toMatchObject({ statusCode: 200 });
    }
    vi.advanceTimersByTime(10_000);
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['timeout']));
  });
});

describe('a misbehaving receiver', () => {
  it('a receiver that refuses the connection is reported as connection_refused', async () => {
    const server = await serve(() => {});
    await closers.pop()?.();
    expect(await failure(post(server.port))).toBe('connection_refused');
  });

  it('a reset before the response is reported as connection_reset', async () => {
    const server = await serveRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await failure(post(server.port))).toBe('connection_reset');
  });

  it('a connection closed in the middle of the body is reported as connection_reset', async () => {
    const server = await serveRaw((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')),
    );
    expect(await failure(post(server.port))).toBe('connection_reset');
  });

  it.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  ])('a response with %s is reported as response_malformed', async (_name, text) => {
    const server = await serveRaw((socket) => socket.once('data', () => socket.end(text)));
    expect(await failure(post(server.port))).toBe('response_malformed');
  });

  it('a receiver that switches protocols is reported as connection_reset', async () => {
    const server = await serveRaw((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      ),
    );
    expect(await failure(post(server.port))).toBe('connection_reset');
    await untilClosed(server);
  });
});

describe('over TLS', () => {
  const good = selfSignedCertificate('receiver.example');
  const expired = selfSignedCertificate('receiver.example', { from: new Date(0), to: new Date(86_400_000) });

  async function overTls({ certificate, key } = good, authority: string | undefined = certificate) {
    const seen: unknown[] = [];
    const server = createHttpsServer({ cert: certificate, key }, (_request, response) => response.end());
    server.on('secureConnection', (socket: TLSSocket & { servername?: string }) => seen.push(socket.servername));
    const { port } = await listen(server);
    const through = createWebhookClient({
      allowPrivateTargets: true,
      resolveHost: async () => ['127.0.0.1'],
      ...(authority !== undefined && { certificateAuthorities: authority }),
    });
    return { seen, to: (host: string) => post(port, { through, url: `https://${host}:${port}/` }) };
  }

  it('an exchange over TLS connects to the checked address under the host name of the URL', async () => {
    const { seen, to } = await overTls();
    expect(await to('receiver.example')).toMatchObject({ statusCode: 200 });
    expect(seen).toEqual(['receiver.example']);
  });

  it('an exchange over TLS refuses a certificate for another name, an expired one, and a self-signed one', async () => {
    const other = await overTls();
    expect(await failure(other.to('other.example'))).toBe('certificate_invalid');
    expect(await failure(other.to('127.0.0.1'))).toBe('certificate_invalid');
    const late = await overTls(expired);
    expect(await failure(late.to('receiver.example'))).toBe('certificate_invalid');
    const stranger = await overTls(good, selfSignedCertificate('authority.example').certificate);
    expect(await failure(stranger.to('receiver.example'))).toBe('certificate_invalid');
  });

  it('an exchange over TLS reports a server that speaks no TLS', async () => {
    const server = await serveRaw((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    expect(await failure(post(server.port, { url: `https://receiver.example:${server.port}/` }))).toBe('tls_failed');
  });
});

describe('private addresses', () => {
  const PUBLIC = '93.184.215.14';

  function guardedClient(...answers: string[][]): { guarded: WebhookClient; lookups: () => number } {
    let lookups = 0;
    const resolveHost = async () => answers[Math.min(lookups++, answers.length - 1)] ?? [];
    return { guarded: createWebhookClient({ allowPrivateTargets: false, resolveHost }), lookups: () => lookups };
  }

  it.each([
    [['127.0.0.1']],
    [['127.0.0.2']],
    [['0.0.0.0']],
    [['::1']],
    [['::']],
    [['::ffff:127.0.0.1']],
    [['::ffff:7f00:1']],
    [['::127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['64:ff9b:1::7f00:1']],
    [['2002:7f00:1::']],
    [['169.254.169.254']],
    [['fe80::1']],
    [['100.64.0.1']],
    [['100.100.100.200']],
    [['168.63.129.16']],
    [['fd00:ec2::254']],
    [['2001:0:4136:e378:8000:63bf:80ff:fffe']],
    [[PUBLIC, '127.0.0.1']],
    [['127.0.0.1', PUBLIC]],
  ])('a name that resolves to %s gets no connection', async (addresses) => {
    const server = await listen(
      createTcpServer(() => {}),
      '0.0.0.0',
    );
    const { guarded, lookups } = guardedClient(addresses);
    const url = `https://rebinding.example:${server.port}/`;
    expect(await failure(post(server.port, { through: guarded, url }))).toBe('address_not_public');
    expect(server.connections).toBe(0);
    expect(lookups()).toBe(1);
  });

  it.each(['127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]'])(
    'a URL with %s in place of a name gets no connection',
    async (host) => {
      const server = await listen(
        createTcpServer(() => {}),
        '0.0.0.0',
      );
      const { guarded } = guardedClient([PUBLIC]);
      const url = `https://${host}:${server.port}/`;
      expect(await failure(post(server.port, { through: guarded, url }))).toBe('address_not_public');
      expect(server.connections).toBe(0);
    },
  );

  it('a private address is refused for a name that was public when its endpoint was created', async () => {
    const server = await listen(createTcpServer(() => {}));
    const answers = [[PUBLIC], ['127.0.0.1']];
    const resolveHost = async () => answers.shift() ?? [];
    const url = `https://rebinding.example:${server.port}/`;
    await checkWebhookUrl(url, { allowPrivateTargets: false, resolveHost });
    const through = createWebhookClient({ allowPrivateTargets: false, resolveHost });
    expect(await failure(post(server.port, { through, url }))).toBe('address_not_public');
    expect(server.connections).toBe(0);
  });

  it('a private address cannot be reached by DNS rebinding: the connection uses the checked address', async () => {
    const assessed = await serve((_request, response) => response.end());
    const other = await listen(
      createTcpServer(() => {}),
      '127.0.0.2',
      assessed.port,
    );
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    let lookups = 0;
    const through = createWebhookClient({
      allowPrivateTargets: true,
      resolveHost: async () => answers[lookups++] ?? ['127.0.0.2'],
    });
    expect(await post(assessed.port, { through })).toMatchObject({ statusCode: 200 });
    expect(lookups).toBe(1);
    expect(other.connections).toBe(0);
  });

  it('plain http is refused without a look-up', async () => {
    const { guarded, lookups } = guardedClient([PUBLIC]);
    expect(await failure(post(80, { through: guarded }))).toBe('url_not_https');
    expect(lookups()).toBe(0);
  });
});

describe.each([{ all: true }, { all: false }])('a look-up with all: $all', ({ all }) => {
  it('a look-up calls back later, when its caller listens for a connection that fails at once', async () => {
    const called = Promise.withResolvers<void>();
    const callback = vi.fn<() => void>(() => called.resolve());
    lookupOf(['192.0.2.1'])('receiver.example', { all }, callback);
    expect(callback).not.toHaveBeenCalled();
    await called.promise;
    expect(callback.mock.calls[0]).toEqual(
      all ? [null, [{ address: '192.0.2.1', family: 4 }]] : [null, '192.0.2.1', 4],
    );
  });
});
