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
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    const hasResponse = [...open].some(({ req, headersSent }) => req.socket === socket && headersSent);
    // A second response inside an open one would be read as part of it.
    if (hasResponse || !socket.writable) socket.destroy();
    else onUnparsed(code, socket);
  });
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
