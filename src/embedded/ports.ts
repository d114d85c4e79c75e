import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import getPort from 'get-port';

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
  const { what, variable, defaultPort, chosenPort } = wish;
  if (chosenPort === 0) return { port: await findFreePort(host), moved: false };
  const port = chosenPort ?? defaultPort;
  if (await isPortFree(port, host)) return { port, moved: false };
  if (chosenPort !== undefined) throw new PortTakenError(what, chosenPort, variable);
  return { port: await findFreePort(host), moved: true };
}

/**
 * Below the ports which systems lend to outgoing connections: a server that is started again would otherwise find its
 * port lent to somebody's client.
 */
const FREE_PORTS = { first: 15_000, count: 15_000 };
const ATTEMPTS = 100;

/**
 * A free port that no other process of this machine is given here: the server meant to listen may not do so for seconds,
 * and until then the port looks free to everyone.
 */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    // At random: processes that look at the same moment would otherwise all find the same one.
    const candidates = Array.from({ length: ATTEMPTS }, () => FREE_PORTS.first + randomInt(FREE_PORTS.count));
    const port = await getPort({ host, port: candidates, reserve: true });
    if (await claimPort(port)) return port;
  }
}

/**
 * Claims a port until this process ends, by the name of a socket in Linux's abstract namespace, which the kernel frees
 * with its process. Other systems have no such names: there the claim always succeeds.
 *
 * @returns Whether no process, this one included, had claimed it before.
 */
export function claimPort(port: number): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(true);
  return new Promise((resolve, reject) => {
    const claim = createServer().unref();
    claim.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    claim.listen(`\0vehicle-inference-port-${port}`, () => resolve(true));
  });
}

/** `get-port` cannot distinguish a port that another program holds from a port that it has returned itself. */
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
