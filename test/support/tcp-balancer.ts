/** A load balancer as in front of several API processes: each connection goes to the next that accepts it. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { findFreePort } from '../../src/embedded/ports.ts';

export interface TcpBalancer {
  port: number;
  close(): Promise<void>;
}

export async function startTcpBalancer(targets: readonly number[]): Promise<TcpBalancer> {
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    track(socket, sockets);
    void connectToAny().then((upstream) => {
      if (!upstream) {
        socket.destroy();
        return;
      }
      track(upstream, sockets);
      for (const [end, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        end.once('close', () => other.destroy());
        if (end.destroyed) other.destroy();
        end.pipe(other);
      }
    });
  });
  /** Null while none accepts. */
  const connectToAny = async (): Promise<Socket | null> => {
    const first = next;
    next += 1;
    for (let tried = 0; tried < targets.length; tried += 1) {
      const upstream = connect({ host: '127.0.0.1', port: targets[(first + tried) % targets.length] as number });
      const isOpen = await once(upstream, 'connect').then(
        () => true,
        () => false,
      );
      if (isOpen) return upstream;
    }
    return null;
  };
  const port = await findFreePort();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function track(socket: Socket, sockets: Set<Socket>): void {
  sockets.add(socket);
  socket.on('error', () => {});
  socket.once('close', () => sockets.delete(socket));
}
