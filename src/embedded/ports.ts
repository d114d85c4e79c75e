import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

export class PortTakenError extends Error {
  constructor(what: string, port: number, variable: string) {
    super(
      `Port ${port}, which ${variable} asks for (${what}), is taken by another program. ` +
        `Stop that program, set ${variable} to another port, or leave it unset for a free one.`,
    );
    this.name = 'PortTakenError';
  }
}

export interface PortWish {
  /** What listens there, for messages. */
  what: string;
  /** The environment variable which sets it. */
  variable: string;
  defaultPort: number;
  /** The caller's own choice. 0 asks for any free port. */
  chosenPort?: number | undefined;
}

export interface PortChoice {
  port: number;
  /** True where the default was taken and another port serves instead. */
  moved: boolean;
}

/**
 * The port to listen on: the caller's, or else the default, or else a free one.
 *
 * @throws PortTakenError when the caller's own port is taken. A default moves; a decision doesn't.
 */
export async function choosePort(wish: PortWish, host: string): Promise<PortChoice> {
  const { chosenPort, defaultPort } = wish;
  if (chosenPort === 0) return { port: await findFreePort(host), moved: false };
  if (chosenPort !== undefined) {
    if (!(await isPortFree(chosenPort, host))) throw new PortTakenError(wish.what, chosenPort, wish.variable);
    return { port: chosenPort, moved: false };
  }
  if (await isPortFree(defaultPort, host)) return { port: defaultPort, moved: false };
  return { port: await findFreePort(host), moved: true };
}

/**
 * Below the ports which systems lend to outgoing connections: a server that is started again would otherwise find its
 * port lent to somebody's client.
 */
const FREE_PORTS = { first: 15_000, count: 15_000 };
const ATTEMPTS = 100;
/** The server meant to listen may not do so yet, and its port must not be given out again. */
const given = new Set<number>();

export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = FREE_PORTS.first + randomInt(FREE_PORTS.count);
    if (given.has(port) || !(await isPortFree(port, host))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`No free port found on ${host}`);
}

export function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
