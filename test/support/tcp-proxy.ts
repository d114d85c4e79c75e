/** A proxy between the service and a server, to simulate outages. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { findFreePort } from '../../src/embedded/ports.ts';

export interface TcpProxy {
  port: number;
  /** Breaks every connection and accepts new ones. */
  cutOff(): void;
  /** Drops the server's replies from now on; requests still reach it. Ends with the connections. */
  mute(): void;
  /** Breaks every connection and refuses new ones. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const upstreams = new Map<Socket, Socket>();
  const server = createServer((socket) => {
    const upstream = connect(target);
    upstreams.set(upstream, socket);
    upstream.once('close', () => upstreams.delete(upstream));
    for (const [end, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(end);
      end.on('error', () => {});
      end.once('close', () => {
        sockets.delete(end);
        other.destroy();
      });
      end.pipe(other);
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const mute = () => {
    for (const [upstream, socket] of upstreams) {
      upstream.unpipe(socket);
      upstream.resume();
    }
  };
  const cutOff = () => {
    for (const socket of sockets) socket.destroy();
  };
  const goAway = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cutOff();
    await closed;
  };
  // Not one that the system lends to clients: it could be lent while the proxy is away.
  const port = await findFreePort();
  await listen(port);
  return { port, cutOff, mute, goAway, comeBack: () => listen(port), close: goAway };
}
