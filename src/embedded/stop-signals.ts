/** Ctrl-C once: stop in order. Ctrl-C again: stop at once. */

export interface StopListeners {
  onFirst: () => void;
  /** Before the process ends. */
  onSecond: () => void;
}

/** npm forwards the Ctrl-C that the terminal has already delivered: two signals for one request. */
const SAME_WISH_MS = 1_000;

/** The signal aborts when the process is asked to stop. */
export function listenForStop({ onFirst, onSecond }: StopListeners): AbortSignal {
  const controller = new AbortController();
  let firstAtMs: number | null = null;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (firstAtMs === null) {
        firstAtMs = performance.now();
        onFirst();
        controller.abort();
      } else if (performance.now() - firstAtMs > SAME_WISH_MS) {
        onSecond();
        process.exit(130);
      }
    });
  }
  // The terminal may be gone before the service: output that fails must not block the stop.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  return controller.signal;
}
