/** An HTTP server that stops without cutting anybody off. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export interface DrainingServer {
  server: Server;
  /** Takes no new connections, finishes the requests under way, and cuts off what still runs after `timeoutMs`. */
  drain: (timeoutMs: number) => Promise<void>;
}

/** Answers what Node's parser could not read. */
export type UnparsedListener = (error: NodeJS.ErrnoException, socket: Duplex) => void;

export function createDrainingServer(listener: RequestListener, onUnparsed: UnparsedListener): DrainingServer {
  const underWay = new Set<ServerResponse>();
  let isDraining = false;
  const server = createServer((request, response) => {
    underWay.add(response);
    response.once('close', () => underWay.delete(response));
    if (isDraining) endConnectionAfter(response);
    listener(request, response);
  });
  server.on('clientError', (error, socket) => {
    const isAnswered = [...underWay].some(({ req, headersSent }) => req.socket === socket && headersSent);
    // In the middle of an answer another one would be read as a part of it.
    if (isAnswered || !socket.writable) socket.destroy(error);
    else onUnparsed(error, socket);
  });
  return {
    server,
    async drain(timeoutMs) {
      isDraining = true;
      for (const response of underWay) endConnectionAfter(response);
      const closed = once(server, 'close');
      server.close();
      const cutOff = setTimeout(() => server.closeAllConnections(), timeoutMs);
      await closed;
      clearTimeout(cutOff);
    },
  };
}

/** Node would keep the connection for the next request, so that a busy customer's never ended before the time-out. */
function endConnectionAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
