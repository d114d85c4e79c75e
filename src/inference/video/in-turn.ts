/** Runs functions in the order of their calls, a limited number at a time. */
export type InTurn = <Result>(signal: AbortSignal, work: () => Promise<Result>) => Promise<Result>;

/** A call that is aborted while waiting rejects with the signal's reason. @param atOnce most functions at a time */
export function createTurns(atOnce: number): InTurn {
  const waiting = new Set<() => void>();
  let free = atOnce;
  return async (signal, work) => {
    signal.throwIfAborted();
    if (free > 0) free -= 1;
    else await turn(waiting, signal);
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next) next();
      else free += 1;
    }
  };
}

function turn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      waiting.delete(begin);
      signal.removeEventListener('abort', giveUp);
      resolve();
    };
    const giveUp = () => {
      waiting.delete(begin);
      reject(signal.reason as Error);
    };
    waiting.add(begin);
    signal.addEventListener('abort', giveUp, { once: true });
  });
}
