/**
 * A proxy between one process and PostgreSQL. It understands enough of the protocol to know where a statement begins and
 * where its result ends, and can hold either: a process is then killed exactly there.
 * Source: PostgreSQL documentation, "Frontend/Backend Protocol", message formats.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `before`: sent by the process, not seen by the server. `after`: executed by the server, unknown to the process. */
export type Moment = 'before' | 'after';

export interface StatementProxy {
  port: number;
  /** Every statement that went through, in order. */
  statements: readonly string[];
  /** Resolves when the next statement that fits has reached the moment; it stays there until everything is cut off. */
  holdNext(fits: (sql: string) => boolean, moment: Moment): Promise<void>;
  /** Breaks every connection and drops what was held; accepts new ones. */
  cutOff(): void;
  close(): Promise<void>;
}

interface Trap {
  fits: (sql: string) => boolean;
  moment: Moment;
  reached: () => void;
}

const READY_FOR_QUERY = 'Z';

export async function startStatementProxy(target: { host: string; port: number }): Promise<StatementProxy> {
  const sockets = new Set<Socket>();
  const statements: string[] = [];
  let trap: Trap | null = null;

  /** Takes the trap when it is set for this moment of this statement. */
  const spring = (sql: string, moment: Moment): boolean => {
    if (trap?.moment !== moment || !trap.fits(sql)) return false;
    trap.reached();
    trap = null;
    return true;
  };

  const server = createServer((socket) => {
    const upstream = connect(target);
    for (const [end, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(end);
      end.setNoDelay(true);
      end.on('error', () => {});
      end.once('close', () => {
        sockets.delete(end);
        other.destroy();
      });
    }
    follow(socket, upstream, statements, spring);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const cutOff = () => {
    trap = null;
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    statements,
    holdNext: (fits, moment) =>
      new Promise((resolve) => {
        trap = { fits, moment, reached: resolve };
      }),
    cutOff,
    async close() {
      const closed = once(server, 'close');
      server.close();
      cutOff();
      await closed;
    },
  };
}

/** Passes one connection's messages on, until one of them is held: then nothing more passes. */
function follow(
  client: Socket,
  server: Socket,
  statements: string[],
  spring: (sql: string, moment: Moment) => boolean,
): void {
  const prepared = new Map<string, string>();
  const inFlight: string[] = [];
  let current = '';
  let isHeld = false;

  const fromClient = createMessageReader((type, body, raw) => {
    if (isHeld) return;
    if (type === 'P') {
      const [name = '', sql = ''] = body.toString('utf8').split('\0');
      prepared.set(name, sql);
      current = sql;
    } else if (type === 'B') {
      current = prepared.get(body.toString('utf8').split('\0')[1] ?? '') ?? current;
    } else if (type === 'Q') {
      current = body.toString('utf8').replace(/\0$/, '');
    }
    if (type === 'Q' || type === 'S') {
      statements.push(current);
      inFlight.push(current);
      isHeld = spring(current, 'before');
    }
    if (!isHeld) server.write(raw);
  }, true);
  const fromServer = createMessageReader((type, _body, raw) => {
    if (isHeld) return;
    if (type === READY_FOR_QUERY) isHeld = spring(inFlight.shift() ?? '', 'after');
    if (!isHeld) client.write(raw);
  }, false);
  client.on('data', fromClient);
  server.on('data', fromServer);
}

/** Cuts a stream into messages: a type, a length that counts itself, a body. The first of a client has no type. */
function createMessageReader(
  take: (type: string, body: Buffer, raw: Buffer) => void,
  startsWithoutType: boolean,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let head = startsWithoutType ? 0 : 1;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= head + 4) {
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      const raw = rest.subarray(0, length);
      rest = rest.subarray(length);
      take(head === 0 ? '' : String.fromCharCode(raw[0] as number), raw.subarray(head + 4), raw);
      head = 1;
    }
  };
}
