/** An HTTP server that finishes its open requests before it stops. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export interface DrainingServer {
  server: Server;
  /** Accepts no new connections, finishes open requests, and closes whatever still runs after `timeoutMs`. */
  drain: (timeoutMs: number) => Promise<void>;
}

/** Responds to bytes that Node's HTTP parser rejected, by its error code. The error itself holds the bytes. */
export type UnparsedListener = (reason: string | undefined, socket: Duplex) => void;

export function createDrainingServer(listener: RequestListener, onUnparsed: UnparsedListener): DrainingServer {
  const open = new Set<ServerResponse>();
  let isDraining = false;
  const server = createServer((request, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    if (isDraining) endConnectionAfter(response);
    listener(request, response);
  });
  const waiting = new WeakSet<Duplex>();
  const refuse = async (reason: string | undefined, socket: Duplex): Promise<void> => {
    // The parser rejects all that follows, too.
    if (waiting.has(socket)) return;
    const responses = [...open].filter(({ req }) => req.socket === socket);
    // Whoever sent them gets their responses: their work may be done and charged.
    const earlier = responses.filter(({ req }) => req.complete);
    waiting.add(socket);
    await Promise.all(earlier.map(untilClosed));
    waiting.delete(socket);
    // A second response inside an open one would be read as part of it.
    if (responses.some(({ req, headersSent }) => !req.complete && headersSent)) socket.destroy();
    // One that is not writable closes when what was written has left.
    else if (socket.writable) onUnparsed(reason, socket);
  };
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => void refuse(code, socket));
  return {
    server,
    async drain(timeoutMs) {
      isDraining = true;
      for (const response of open) endConnectionAfter(response);
      const closed = once(server, 'close');
      server.close();
      const cutOff = setTimeout(() => server.closeAllConnections(), timeoutMs);
      await closed;
      clearTimeout(cutOff);
    },
  };
}

/** Without this header Node keeps the connection open for the next request, and a busy client would never drain. */
function endConnectionAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}

/** Resolves when the response has been sent, or its connection has closed. */
function untilClosed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('close', resolve));
}
